// The sentences of rails/driver.hpp that need a second process: death, and real distance.
