#!/usr/bin/env python3
"""Files of tensors between tern and Python: what NumPy and safetensors write is read by tern, written again, and read
by them. Usage: files.py PROGRAM, which is tern_oracle as it was built."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
    import safetensors.numpy as safetensors
except ImportError as error:
    print(f"skipped: {error} (script/setup puts it into third_party/python, for PYTHONPATH)")
    sys.exit(77)

if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    print(__doc__)
    sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
PROGRAM = sys.argv[1]
DTYPES = [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.uint32, np.int64, np.float16, ml_dtypes.bfloat16,
          np.float32, np.float64, np.complex64]


def copied(path, ending=None):
    to = path.with_name("copy_" + path.stem + (ending or path.suffix))
    subprocess.run([PROGRAM, "--copy", path, to], check=True)
    return to


def check(got, want, name):
    if got.dtype == np.dtype("V2"):  # NumPy does not know it
        got = got.view(ml_dtypes.bfloat16)
    if got.dtype != want.dtype.newbyteorder("=") or got.shape != want.shape or not (got == want).all():
        print(f"{name}: {got.dtype}{got.shape} instead of {want.dtype}{want.shape}\n{got}\n{want}")
        sys.exit(1)


def main():
    dice = np.random.default_rng(1)
    arrays = {np.dtype(t).name: dice.integers(0, 100, (3, 5)).astype(t) for t in DTYPES}
    arrays["complex64"] *= 1 - 2j
    arrays.update(number=np.array(2.5), none=np.zeros((2, 0, 3), np.float32), long=np.arange(100000))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.savez(folder / "a.npz", **arrays)
        np.savez_compressed(folder / "b_c.npz", **arrays)
        for path in (copied(folder / "a.npz"), copied(folder / "b_c.npz")):
            with np.load(path) as file:
                assert sorted(file.files) == sorted(arrays), file.files
                for key, want in arrays.items():
                    check(file[key], want, f"{path.name}: {key}")
        safetensors.save_file(arrays, folder / "a.safetensors")
        back = safetensors.load_file(copied(folder / "a.safetensors"))
        for key, want in arrays.items():
            check(back[key], want, f"safetensors: {key}")
        wide = {"wide": arrays["complex64"].astype(np.complex128) / 3, "none": np.zeros((2, 0), np.complex128)}
        np.savez(folder / "w.npz", **wide)
        pairs = copied(folder / "w.npz", ".safetensors")  # the format has no complex128
        back = safetensors.load_file(pairs)
        with np.load(copied(pairs, ".npz")) as file:
            for key, want in wide.items():
                check(back[key], want.view(np.float64).reshape(*want.shape, 2), f"safetensors: {key}")
                check(file[key], want, f"safetensors to npz: {key}")
        others = {"turned": np.asfortranarray(arrays["float32"]), "big": arrays["int16"].astype(">i2"),
                  "big_turned": np.asfortranarray(arrays["float64"].astype(">f8")),
                  "complex": arrays["complex64"].astype(np.complex128),
                  "big_complex": arrays["complex64"].astype(">c8"),
                  **arrays}
        for key, want in others.items():
            for version in ((1, 0), (2, 0), (3, 0)):
                with open(folder / f"{key}.npy", "wb") as file:
                    np.lib.format.write_array(file, want, version)
                check(np.load(copied(folder / f"{key}.npy")), want, f"npy {version}: {key}")
    print("Python and tern read each other's files")


main()
