/** The part of the WebAssembly JavaScript interface used here: TypeScript has it in its browser library only. */
declare namespace WebAssembly {
  class Module {
    private constructor()
  }
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number })
    readonly buffer: ArrayBuffer
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, (...args: never[]) => unknown>>)
    readonly exports: Record<string, unknown>
  }
  function compile(bytes: Uint8Array): Promise<Module>
}
