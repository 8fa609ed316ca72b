// Puts the bits of elements into words, a word each, for the sort by digits of elements that are not words themselves,
// or do not lie one after the other. An invocation has a group of neighbours of a line, which are loaded and stored as
// vectors where they lie so:
//
//   elements of 16 bits:  │ a b │ c d │ e f │ g h │  ->  │ a │ b │ c │ d │  │ e │ f │ g │ h │
//
// Bound by memory. 2^24 of bf16 took 152 µs on an H200, 28 November 2026, WebGPU, with a word at a time stored.
$place
$load
$store
