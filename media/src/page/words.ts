/** State of which each property is one number of a `Float64Array`; 0 or 1 where it says whether something is so. */
type Words<Name extends string> = Record<Name, number>

interface WordsClass<Name extends string> {
  /** Over `memory`, which holds at least `names.length` numbers and is not changed; default memory of its own. */
  new (memory?: Float64Array): Words<Name>
  /** The properties, in the order of the memory. */
  readonly names: readonly Name[]
}

/**
 * Makes a class whose instances keep their numbers in memory that the native media path reads and changes as well, as the struct of
 * the same order in `media/native/call_page.h`.
 */
export function wordsClass<const Name extends string>(...names: Name[]): WordsClass<Name> {
  class State {
    static readonly names: readonly Name[] = names
    readonly memory: Float64Array

    constructor(memory = new Float64Array(names.length)) {
      this.memory = memory
    }
  }
  for (const [i, name] of names.entries()) {
    Object.defineProperty(State.prototype, name, {
      get(this: State) {
        return this.memory[i]
      },
      set(this: State, value: number) {
        this.memory[i] = value
      },
    })
  }
  return State as unknown as WordsClass<Name>
}
