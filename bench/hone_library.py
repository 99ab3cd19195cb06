"""hone's C interface (hone/hone.h) for the benchmarks that are written in Python: picks and launches."""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p

ABI_VERSION = 1


class HoneError(Exception):
    """One line: what the library said, or why it cannot be used."""


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("databases", POINTER(c_char_p)), ("database_count", c_size_t),
                ("device", c_char_p), ("regime", c_int), ("allow_unchecked", c_int),
                ("record_misses", c_int), ("misses_folder", c_char_p)]


class Family(ctypes.Structure):
    _fields_ = [("runtime", c_void_p), ("family", c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("words", c_uint64 * 13)]


class Pick(ctypes.Structure):
    _fields_ = [("answer", c_void_p), ("own", c_void_p)]


_TEXTS = ("hone_version", "hone_rung_name", "hone_pick_configuration", "hone_pick_why")


class Runtime:
    """A database, opened read-only for one device."""

    def __init__(self, library, database, device):
        """`database` None: HONE_DB, else the user's own."""
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise HoneError(f"{library} cannot be loaded: {error}; build it with cmake --build, or name it "
                            "by --lib") from None
        if self._library.hone_abi_version() != ABI_VERSION:
            raise HoneError(f"{library} has another ABI version than {ABI_VERSION}")
        for name in _TEXTS:
            getattr(self._library, name).restype = c_char_p
        self._library.hone_pick_workspace_bytes.restype = c_size_t
        files = [database.encode()] if database else []
        options = Options(ctypes.sizeof(Options), (c_char_p * len(files))(*files), len(files),
                          device.encode())
        self._handle = c_void_p()
        self._call("hone_open", byref(options), byref(self._handle))

    def close(self):
        self._library.hone_close(self._handle)

    def version(self):
        return self._library.hone_version().decode()

    def prepare(self, family, element_type, dimensions, pointers, layout=""):
        """The pick for a problem and these pointers, its code loaded: launches of it are legal inside a stream
        capture."""
        found, problem, pick = Family(), Problem(), Pick()
        self._call("hone_find_family", self._handle, family.encode(), byref(found))
        self._call("hone_make_problem", byref(found), element_type.encode(), layout.encode(),
                   (c_int64 * len(dimensions))(*dimensions), c_size_t(len(dimensions)), byref(problem))
        alignment = min(pointer & -pointer for pointer in pointers)
        self._call("hone_prepare", self._handle, byref(problem), c_size_t(alignment), byref(pick))
        why = self._library.hone_pick_why(byref(pick)).decode()
        if why:
            raise HoneError(why)
        return PreparedCall(self, problem, pick, pointers)

    def _call(self, function, *arguments):
        error = c_void_p()
        if getattr(self._library, function)(*arguments, byref(error)) == 0:
            return
        text = ctypes.string_at(error).decode()
        self._library.hone_free(error)
        raise HoneError(text)


class PreparedCall:
    """One problem with its pointers. The runtime must outlive it."""

    def __init__(self, runtime, problem, pick, pointers):
        self._runtime, self._problem = runtime, problem
        self._set_arguments(pointers)
        library = runtime._library
        self.workspace_bytes = library.hone_pick_workspace_bytes(byref(pick))
        self.rung = library.hone_rung_name(library.hone_pick_rung(byref(pick))).decode()
        self.configuration = library.hone_pick_configuration(byref(pick)).decode()
        library.hone_pick_release(byref(pick))

    def _set_arguments(self, pointers):
        self._arguments = (c_void_p * len(pointers))(*pointers)

    def lend(self, workspace):
        """A workspace of workspace_bytes, zeroed before."""
        self._set_arguments([*self._arguments, workspace])

    def run(self, stream):
        """Picks by the pointers' alignment and launches on `stream`, an integer."""
        self._runtime._call("hone_run", self._runtime._handle, byref(self._problem), self._arguments,
                            c_size_t(len(self._arguments)), c_void_p(stream))
