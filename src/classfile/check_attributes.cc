// SPDX-License-Identifier: Apache-2.0
#include "classfile/check_attributes.h"

#include <string>

#include "classfile/descriptor.h"
#include "classfile/name_rules.h"

namespace sonde::classfile {
namespace {

class LayoutChecker final : public LayoutVisitor {
 public:
  LayoutChecker(const Attribute& attribute, Findings& findings, const Code* code)
      : attribute_(attribute), findings_(findings), code_(code) {}

  void item(const LayoutItem& item) override {
    if (!item.fits(findings_.pool())) {
      add(item, "#" + std::to_string(item.value) + " is " + std::string(name_of(findings_.pool().tag(item.index()))) +
                    " where another kind of entry must be");
    } else if (item.kind == 'T' && !is_type_descriptor(findings_.pool().utf8(item.index()))) {
      add(item, quoted(findings_.pool().utf8(item.index())) + " is no field descriptor");
    } else if (code_ != nullptr) {
      check_in_code(item);
    }
  }
  void begin_row(std::uint16_t number) override { row_ = number; }
  void attributes(const AttributeList& list) override {
    check_attributes(list, AttributeOwner::kRecordComponent, findings_);
  }

 private:
  void check_in_code(const LayoutItem& item) {
    switch (item.kind) {
      case 'p':
        start_ = item.value;
        // As HotSpot: inside the code; that an instruction starts there is not asked for.
        if (item.value >= code_->length()) add(item, "pc " + std::to_string(item.value) + " is past the code");
        break;
      case 'l':
        if (start_ + item.value > code_->length()) {
          add(item, "the range of " + std::to_string(item.value) + " bytes from pc " + std::to_string(start_) +
                        " on ends past the code");
        }
        break;
      case 'T': slots_ = slots_of(findings_.pool().utf8(item.index())[0]); break;
      case 's':
        if (item.value + slots_ > code_->max_locals()) {
          add(item,
              "slot " + std::to_string(item.value) + " is not below max_locals " + std::to_string(code_->max_locals()));
        }
        break;
      default: break;
    }
  }

  void add(const LayoutItem& item, std::string message) {
    findings_.add(std::move(message), "row " + std::to_string(row_), attribute_.offset + item.offset);
  }

  const Attribute& attribute_;
  Findings& findings_;
  const Code* code_;
  std::uint32_t start_ = 0;
  std::uint32_t slots_ = 1;
  std::uint16_t row_ = 0;
};

}  // namespace

void check_attributes(const AttributeList& list, AttributeOwner owner, Findings& findings, const Code* code) {
  for (const Attribute& attribute : list) {
    const auto layout = layout_of(attribute.name, owner);
    if (!layout) continue;
    const Findings::Scope scope(findings, attribute.name);
    LayoutChecker checker(attribute, findings, code);
    Result<void> walked = walk_layout(*layout, attribute, findings.pool(), checker);
    if (!walked.ok()) findings.add(std::move(walked).error().shifted(attribute.offset));
  }
}

std::uint16_t bootstrap_method_count(const ClassFile& cls) {
  const auto attribute = cls.attributes().find(attribute::kBootstrapMethods);
  return attribute ? ByteReader(attribute->content).u2() : 0;
}

}  // namespace sonde::classfile
