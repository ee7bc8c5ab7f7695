/** WASI error numbers (wasi_snapshot_preview1, `errno`). */
const SUCCESS = 0
const BADF = 8
const FBIG = 22
const INVAL = 28
const NOENT = 44

const PREOPEN_FD = 3
const OUTPUT_FD = 4

interface CommandResult {
  /** Exit code of the program. */
  readonly status: number
  /** Content of the file that it wrote. */
  readonly output: Uint8Array
  /** The end of its standard error, at most 2000 bytes. */
  readonly stderr: string
}

/**
 * Runs a WASI command (a module with `_start`) that takes arguments and writes one file, in memory: without a file
 * system, environment and randomness, and with a stopped clock. Blocks until the program exits. Throws its traps.
 */
export function runCommand(
  module: WebAssembly.Module,
  args: readonly string[],
  options: { readonly outputName: string; readonly maxOutputBytes: number },
): CommandResult {
  const host = new CommandHost(args, options)
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: host.imports() })
  const { memory, _start } = instance.exports
  if (!(memory instanceof WebAssembly.Memory) || typeof _start !== 'function') {
    throw new TypeError('the module is not a WASI command')
  }
  return host.run(memory, _start as () => void)
}

/** Unwinds the program's stack when it calls `proc_exit`. */
class Exit extends Error {
  readonly status: number

  constructor(status: number) {
    super(`exit ${status}`)
    this.status = status
  }
}

class CommandHost {
  readonly #args: readonly Uint8Array[]
  readonly #outputName: string
  readonly #maxOutputBytes: number
  #memory = new WebAssembly.Memory({ initial: 0 })
  #output = new Uint8Array(65_536)
  #outputLength = 0
  #position = 0
  #stderr = ''

  constructor(args: readonly string[], options: { readonly outputName: string; readonly maxOutputBytes: number }) {
    const encoder = new TextEncoder()
    this.#args = args.map(arg => encoder.encode(`${arg.replaceAll('\0', '')}\0`))
    this.#outputName = options.outputName
    this.#maxOutputBytes = options.maxOutputBytes
  }

  run(memory: WebAssembly.Memory, start: () => void): CommandResult {
    this.#memory = memory
    let status = 0
    try {
      start()
    } catch (error) {
      if (!(error instanceof Exit)) throw error
      status = error.status
    }
    return { status, output: this.#output.slice(0, this.#outputLength), stderr: this.#stderr }
  }

  /** A program that imports other WASI functions does not link. */
  imports(): Record<string, (...args: never[]) => unknown> {
    return {
      args_sizes_get: (count: number, size: number) => this.#argsSizes(count, size),
      args_get: (pointers: number, buffer: number) => this.#argsGet(pointers, buffer),
      clock_time_get: (_id: number, _precision: bigint, result: number) => {
        this.#view().setBigUint64(result, 0n, true)
        return SUCCESS
      },
      fd_close: (fd: number) => (fd <= OUTPUT_FD ? SUCCESS : BADF),
      fd_fdstat_get: (fd: number, result: number) => this.#fdstat(fd, result),
      fd_fdstat_set_flags: (fd: number) => (fd <= OUTPUT_FD ? SUCCESS : BADF),
      fd_prestat_get: (fd: number, result: number) => this.#prestat(fd, result),
      fd_prestat_dir_name: (fd: number, path: number, length: number) => {
        if (fd !== PREOPEN_FD || length < 1) return BADF
        this.#view().setUint8(path, 0x2f)
        return SUCCESS
      },
      fd_read: (fd: number, _vectors: number, _count: number, result: number) => {
        if (fd !== 0) return BADF
        this.#view().setUint32(result, 0, true)
        return SUCCESS
      },
      fd_seek: (fd: number, offset: bigint, whence: number, result: number) => this.#seek(fd, offset, whence, result),
      fd_write: (fd: number, vectors: number, count: number, result: number) => this.#write(fd, vectors, count, result),
      path_open: (fd: number, _flags: number, path: number, length: number, ...rest: unknown[]) =>
        this.#open(fd, path, length, rest.at(-1) as number),
      proc_exit: (status: number) => {
        throw new Exit(status)
      },
    }
  }

  #view(): DataView {
    // Created for each access, because the buffer is replaced when the program's memory grows.
    return new DataView(this.#memory.buffer)
  }

  #argsSizes(count: number, size: number): number {
    const view = this.#view()
    view.setUint32(count, this.#args.length, true)
    view.setUint32(
      size,
      this.#args.reduce((sum, arg) => sum + arg.length, 0),
      true,
    )
    return SUCCESS
  }

  #argsGet(pointers: number, buffer: number): number {
    const view = this.#view()
    let at = buffer
    for (const [i, arg] of this.#args.entries()) {
      view.setUint32(pointers + 4 * i, at, true)
      new Uint8Array(this.#memory.buffer, at, arg.length).set(arg)
      at += arg.length
    }
    return SUCCESS
  }

  #fdstat(fd: number, result: number): number {
    if (fd > OUTPUT_FD) return BADF
    const view = this.#view()
    // filetype: character device, directory, regular file; then every right, its own and inherited.
    view.setUint8(result, fd < PREOPEN_FD ? 2 : fd === PREOPEN_FD ? 3 : 4)
    view.setUint16(result + 2, 0, true)
    view.setBigUint64(result + 8, 0xffff_ffff_ffff_ffffn, true)
    view.setBigUint64(result + 16, 0xffff_ffff_ffff_ffffn, true)
    return SUCCESS
  }

  #prestat(fd: number, result: number): number {
    if (fd !== PREOPEN_FD) return BADF
    const view = this.#view()
    view.setUint32(result, 0, true)
    view.setUint32(result + 4, 1, true)
    return SUCCESS
  }

  #open(fd: number, path: number, length: number, result: number): number {
    if (fd !== PREOPEN_FD) return BADF
    const name = new TextDecoder().decode(new Uint8Array(this.#memory.buffer, path, length))
    if (name !== this.#outputName) return NOENT
    this.#outputLength = 0
    this.#position = 0
    this.#view().setUint32(result, OUTPUT_FD, true)
    return SUCCESS
  }

  #seek(fd: number, offset: bigint, whence: number, result: number): number {
    if (fd !== OUTPUT_FD) return BADF
    const base = whence === 0 ? 0 : whence === 1 ? this.#position : this.#outputLength
    const target = base + Number(offset)
    if (target < 0 || target > this.#outputLength) return INVAL
    this.#position = target
    this.#view().setBigUint64(result, BigInt(target), true)
    return SUCCESS
  }

  #write(fd: number, vectors: number, count: number, result: number): number {
    if (fd !== 1 && fd !== 2 && fd !== OUTPUT_FD) return BADF
    const view = this.#view()
    let written = 0
    for (let i = 0; i < count; i++) {
      const at = view.getUint32(vectors + 8 * i, true)
      const bytes = new Uint8Array(this.#memory.buffer, at, view.getUint32(vectors + 8 * i + 4, true))
      if (fd === 2) this.#stderr = (this.#stderr + new TextDecoder().decode(bytes)).slice(-2000)
      if (fd === OUTPUT_FD && !this.#append(bytes)) return FBIG
      written += bytes.length
    }
    view.setUint32(result, written, true)
    return SUCCESS
  }

  #append(bytes: Uint8Array): boolean {
    const end = this.#position + bytes.length
    if (end > this.#maxOutputBytes) return false
    if (end > this.#output.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#output.length))
      larger.set(this.#output.subarray(0, this.#outputLength))
      this.#output = larger
    }
    this.#output.set(bytes, this.#position)
    this.#position = end
    this.#outputLength = Math.max(this.#outputLength, end)
    return true
  }
}
