import { jsonPointer } from '@parley/contract'

/** What a diagnostic's path holds at most. */
const MAX_PATH = 1024

/**
 * A location in an export in two forms: `at` with list indexes, as in the request, and `key` with ids instead of indexes,
 * under which the draft stores values that it has no field for.
 */
export class SourceLocation {
  readonly at: readonly (string | number)[]
  readonly key: readonly string[]

  constructor(at: readonly (string | number)[], key: readonly string[] = at.map(String)) {
    this.at = at
    this.key = key
  }

  /** A member. */
  in(name: string): SourceLocation {
    return new SourceLocation([...this.at, name], [...this.key, name])
  }

  /** An item of a list; without an id its index stands for it. */
  item(index: number, id: string = String(index)): SourceLocation {
    return new SourceLocation([...this.at, index], [...this.key, id])
  }

  get name(): string {
    return this.key.at(-1) ?? ''
  }

  /** JSON pointer into the request: to the nearest object around the place where the whole is too long. */
  get path(): string {
    let path = ''
    for (const part of this.at) {
      const longer = path + jsonPointer([part])
      if (longer.length > MAX_PATH) break
      path = longer
    }
    return path
  }

  /** JSON pointer with ids for indexes. */
  get pointer(): string {
    return jsonPointer(this.key)
  }
}

/** The parts of a JSON pointer. */
export function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
