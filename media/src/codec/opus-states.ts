type Library = typeof import('libopus-wasm')

/** States that are ready at any time: one direction of a call takes one, and another when its source changes. */
const READY = 8

/**
 * Encoder or decoder states of libopus, created ahead. The library creates them asynchronously, and codecs are created
 * within the processing of a packet, which cannot wait.
 */
export class OpusStates<State extends { free(): void }> {
  readonly #create: (library: Library) => Promise<State>
  readonly #ready: State[] = []
  /** A state lies in the library's own memory, which the garbage collector does not see. */
  readonly #released = new FinalizationRegistry<State>(state => state.free())
  #filling: Promise<void> | null = null

  constructor(create: (library: Library) => Promise<State>) {
    this.#create = create
  }

  /** A state that is freed with `owner`; null: none is ready yet. */
  take(owner: object): State | null {
    const state = this.#ready.pop() ?? null
    if (state !== null) this.#released.register(owner, state)
    void this.fill().catch(() => {})
    return state
  }

  /** Resolves when `READY` states are ready. */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = null
    })
    return this.#filling
  }

  async #fill(): Promise<void> {
    const library = await import('libopus-wasm')
    while (this.#ready.length < READY) this.#ready.push(await this.#create(library))
  }
}
