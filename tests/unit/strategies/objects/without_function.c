int headway_strategy_of_another_name = 1;
