// Pieces of the kernels that have a matrix a thread (thread_qr.wgsl, thread_eigh.wgsl, thread_svd.wgsl), in registers:
// element (i, j) is c<i><j>. What they share with the others is in small_pieces.wgsl. The kernels' files have drawings,
// and say what bounds them and how fast they are.

$define rotated(one, two)
  {
    let kept = $one;
    $one = fma(-s, $two, c * kept);
    $two = fma(s, kept, c * $two);
  }
$end
$define swapped(one, two)
  {
    let kept = $one;
    $one = $two;
    $two = kept;
  }
$end

The elements of a matrix, in row i those of the columns $of_row_<i>: all, or up to the diagonal.
$define own_load
  $for i in $rows
    $for j in $of_row_${i}
      var c${i}${j} = $type(0.0);
    $end
  $end
  if (inside) {
    $for i in $rows
      $for j in $of_row_${i}
        $load_${i}${j}
      $end
    $end
  }
$end
Their largest, as a power of two; status -1 where one is not finite.
$define own_power
  var most = $type(0.0);
  $for i in $rows
    $for j in $of_row_${i}
      if (!($finite(c${i}${j}))) { status = -1; }
      most = max(most, $abs(c${i}${j}));
    $end
  $end
  let power = power_of(most);
  let up = $type(1.0) / power;
$end

q · r of the columns c: r stays above the diagonal, divided by scale<j>, its diagonal is d<k>, v of the reflections lies
below it.
$define own_factor
  $for j in $columns
    var most${j} = $type(0.0);
    $for i in $rows
      most${j} = max(most${j}, $abs(c${i}${j}));
    $end
    let scale${j} = power_of(most${j});
    let up${j} = $type(1.0) / scale${j};
    $for i in $rows
      c${i}${j} = scaled(c${i}${j}, up${j});
    $end
  $end
  $for k in $steps
    var largest${k} = $abs(c${k}${k});
    $for i in $under_${k}
      largest${k} = max(largest${k}, $abs(c${i}${k}));
    $end
    let size${k} = power_of(largest${k});
    let less${k} = $type(1.0) / size${k};
    let first${k} = c${k}${k} * less${k};
    var below${k} = $type(0.0);
    $for i in $under_${k}
      below${k} = fma(c${i}${k} * less${k}, c${i}${k} * less${k}, below${k});
    $end
    let none${k} = below${k} == $type(0.0) || (largest${k} < size${k} && below${k} < $type(${m}.0));
    let length${k} = $sqrt(fma(first${k}, first${k}, below${k}));
    let made${k} = select(select(length${k}, -length${k}, first${k} > $type(0.0)), first${k}, none${k});
    let to${k} = first${k} - made${k};
    let of_v${k} = select($divided(less${k}, select(to${k}, $type(1.0), none${k})), $type(0.0), none${k});
    let tau${k} = select($divided(-to${k}, select(made${k}, $type(1.0), none${k})), $type(0.0), none${k});
    let d${k} = made${k} * size${k};
    $for i in $under_${k}
      c${i}${k} = c${i}${k} * of_v${k};
    $end
    $for j in $right_${k}
      {
        var w = c${k}${j};
        $for i in $under_${k}
          w = fma(c${i}${k}, c${i}${j}, w);
        $end
        w = w * tau${k};
        c${k}${j} = c${k}${j} - w;
        $for i in $under_${k}
          c${i}${j} = fma(-c${i}${k}, w, c${i}${j});
        $end
      }
    $end
  $end
  $own_basis
$end
Its q, from the last reflection to the first.
$define own_basis
  $for i in $rows
    $for j in $inner
      var q${i}${j} = $type($one_${i}${j});
    $end
  $end
  $for k in $steps_back
    $for j in $basis_${k}
      {
        var w = q${k}${j};
        $for i in $under_${k}
          w = fma(c${i}${k}, q${i}${j}, w);
        $end
        w = w * tau${k};
        q${k}${j} = q${k}${j} - w;
        $for i in $under_${k}
          q${i}${j} = fma(-c${i}${k}, w, q${i}${j});
        $end
      }
    $end
  $end
$end
