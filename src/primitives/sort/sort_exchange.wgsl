// A piece (kernel_file.hpp) of sort_block.wgsl, in what the GPU languages share (dialect.hpp): elements a and b in
// registers, exchanged where the later stands before the other, or after it where the run descends.
$define exchange(a, b)
  if ((key$a > key$b || (key$a == key$b && place$a > place$b)) == up) {
    let key = key$a;
    key$a = key$b;
    key$b = key;
    let place = place$a;
    place$a = place$b;
    place$b = place;
  }
$end
