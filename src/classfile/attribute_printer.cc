// SPDX-License-Identifier: Apache-2.0
#include "classfile/attribute_printer.h"

#include <vector>

#include "classfile/annotation_printer.h"

namespace sonde::classfile {
namespace {

constexpr std::size_t kStep = 2;

std::optional<FlagsOf> flags_of_kind(char kind) {
  switch (kind) {
    case 'c': return FlagsOf::kInnerClass;
    case 'a': return FlagsOf::kParameter;
    case 'm': return FlagsOf::kModule;
    case 'r': return FlagsOf::kRequires;
    case 'e': return FlagsOf::kExports;
    default: return std::nullopt;
  }
}

// Items of one row share a line, which starts after "SourceFile:" or, in a list, below it:
//   InnerClasses:
//     java/util/Map$Entry  outer java/util/Map  name Entry  flags 0x0609 public abstract static interface
// No newline at the end: print_attribute's caller ends the line.
class LayoutPrinter final : public LayoutVisitor {
 public:
  LayoutPrinter(Listing& out, const ConstantPool& pool, std::size_t indent, bool numbered)
      : out_(out), pool_(pool), indent_(indent), numbered_(numbered) {}

  void item(const LayoutItem& item) override {
    out_ << (fresh_line_ ? "" : depth_ == 0 && first_ ? " " : "  ");
    fresh_line_ = first_ = false;
    if (!item.label.empty()) out_ << item.label << " ";
    if (!item.fits(pool_)) {
      out_ << "<malformed: " << Index{item.index()} << " is " << name_of(pool_.tag(item.index())) << ">";
    } else if (item.is_none()) {
      out_ << "-";
    } else if (const auto flags = flags_of_kind(item.kind)) {
      out_ << Flags{item.value, *flags};
    } else if (item.kind == 'K' || item.kind == 'L') {
      out_.constant(pool_, item.index());
    } else if (item.is_pool_index()) {
      out_.constant_value(pool_, item.index());
    } else {
      out_ << item.value;
    }
  }

  void begin_list(std::string_view label, std::uint16_t count) override {
    if (!label.empty() && count != 0) {
      out_ << "\n" << Indent{indent_ + (depth_ + 1) * kStep} << label << ":";
      ++depth_;
    }
    labelled_.push_back(!label.empty() && count != 0);
    ++depth_;
  }
  void begin_row(std::uint16_t number) override {
    out_ << "\n" << Indent{indent_ + depth_ * kStep};
    if (numbered_ && depth_ == 1) out_ << number << ": ";
    fresh_line_ = true;
  }
  void end_list() override {
    depth_ -= labelled_.back() ? 2 : 1;
    labelled_.pop_back();
  }
  void attributes(const AttributeList& list) override {
    for (const Attribute& nested : list) {
      out_ << "\n";
      print_attribute(out_, pool_, nested, AttributeOwner::kRecordComponent, indent_ + (depth_ + 1) * kStep);
    }
  }

 private:
  Listing& out_;
  const ConstantPool& pool_;
  const std::size_t indent_;
  const bool numbered_;  // rows are referred to by their number
  std::size_t depth_ = 0;
  bool fresh_line_ = false;
  bool first_ = true;
  std::vector<bool> labelled_;
};

}  // namespace

void print_malformed(Listing& out, const Error& error) { out << "<malformed: " << Name{error.to_string()} << ">"; }

void print_attribute(Listing& out, const ConstantPool& pool, const Attribute& attribute, AttributeOwner owner,
                     std::size_t indent) {
  const bool is_marker = attribute.content.empty();  // Deprecated, Synthetic
  out << Indent{indent} << Name{attribute.name} << (is_marker ? "" : ":");
  const auto layout = layout_of(attribute.name, owner);
  std::optional<Result<void>> result;
  if (layout) {
    LayoutPrinter printer(out, pool, indent, attribute.name == attribute::kBootstrapMethods);
    result = walk_layout(*layout, attribute, pool, printer);
  } else {
    result = print_annotations(out, pool, attribute, indent + kStep);
  }
  if (!result && !is_marker) {
    out << " " << attribute.content.size() << " bytes";
  } else if (result && !result->ok()) {
    out << " ";
    print_malformed(out, result->error());
  }
}

}  // namespace sonde::classfile
