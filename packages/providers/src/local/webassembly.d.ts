/** The part of the WebAssembly JavaScript interface used here: TypeScript has it in its browser library only. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number })
    readonly buffer: ArrayBuffer
    /** By pages of 64 KiB; `buffer` is another afterwards. */
    grow(pages: number): number
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory | ((...args: never[]) => unknown)>>)
    readonly exports: Record<string, unknown>
  }
  function compile(bytes: Uint8Array): Promise<Module>
}
