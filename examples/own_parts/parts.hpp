// The parts of this example, each in a file of its own.
#pragma once

#include "aurora/runs/parts.hpp"

aurora::TaskEntry arm_task();
aurora::EncoderEntry random_projection();
aurora::ContainerEntry nearest_wins();
aurora::SelectorEntry few_children();
aurora::MetricEntry spread();
aurora::Variant fair();
