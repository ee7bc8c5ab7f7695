/** Header fields in message order, with canonical names. Immutable: a change returns a new list. */
export class HeaderList {
  static readonly empty = new HeaderList([])

  readonly entries: readonly (readonly [name: string, value: string])[]

  constructor(entries: readonly (readonly [name: string, value: string])[]) {
    this.entries = entries
  }

  /** The first value of `name` (canonical form), whole line; undefined when absent. */
  get(name: string): string | undefined {
    return this.entries.find(entry => entry[0] === name)?.[1]
  }

  /** Every line of `name`, unsplit. */
  all(name: string): readonly string[] {
    return this.entries.filter(entry => entry[0] === name).map(entry => entry[1])
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  with(name: string, value: string): HeaderList {
    return new HeaderList([...this.entries, [name, value]])
  }

  without(name: string): HeaderList {
    return new HeaderList(this.entries.filter(entry => entry[0] !== name))
  }
}
