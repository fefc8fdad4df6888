#include <string_view>

#include "base/json_writer.hpp"
#include "tools/headway/facts.hpp"

namespace headway::tool {
namespace {

class fact_writer {
 public:
  void write(const place_fact& p) {
    out_.object([&] {
      out_.member("name", p.name);
      out_.member("depth", p.depth);
      out_.name("processors");
      out_.array(p.processors, [&](int number) { out_.value(number); });
    });
  }
  void write(const rail_fact& r) {
    out_.object([&] {
      out_.member("name", r.name);
      out_.member("address", r.address);
      out_.member("peers", r.peers);
    });
  }
  void write(const window_fact& w) {
    out_.object([&] {
      out_.member("made_by", w.made_by);
      out_.member("way", w.way);
    });
  }
  void write(const tunable_fact& t) {
    out_.object([&] {
      out_.member("name", t.name);
      out_.member("why", t.why);
      out_.member("unit", t.unit);
      out_.member("accepts", t.accepted);
      out_.member("default", t.fallback);
      out_.member("value", t.value);
      out_.member("origin", t.origin);
      out_.member("group", t.group);
    });
  }
  void write(const function_fact& f) {
    out_.object([&] {
      out_.member("name", f.name);
      out_.member("chapter", f.chapter);
      out_.member("works", f.works);
    });
  }
  void write(const rule_fact& r) {
    out_.object([&] {
      out_.member("collective", r.collective);
      out_.member("algorithm", r.algorithm);
      out_.member("when", r.when);
      out_.member("why", r.why);
      out_.member("forced", r.forced);
      out_.member("chosen", r.chosen);
      out_.member("source", r.source);
    });
  }

  std::string write(const facts& all) {
    out_.object([&] {
      line("version", all.version);
      line("compiler", all.compiler);
      line("mpi_version", all.mpi_version);
      line("abi_version", all.abi_version);
      line("usable_processors", all.usable_processors);
      line("greatest_weight", all.weight);
      line("imagined_machine", all.imagined_machine);
      lines("places", all.places);
      lines("rails", all.rails);
      line("rails_fault", all.rails_fault);
      lines("windows", all.windows);
      lines("tunables", all.tunables);
      lines("mpi_functions", all.functions);
      lines("collectives", all.rules);
      out_.break_line();
    });
    return out_.take() + "\n";
  }

 private:
  void line(std::string_view name, const auto& value) {
    out_.break_line();
    out_.member(name, value);
  }
  void lines(std::string_view name, const auto& entries) {
    out_.lines(name, entries, [this](const auto& each) { this->write(each); });
  }

  base::json_writer out_;
};

}  // namespace

std::string json_text(const facts& all) { return fact_writer().write(all); }

}  // namespace headway::tool
