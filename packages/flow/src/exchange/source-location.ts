import { jsonPointer } from '@parley/contract'

/** Maximum length of a diagnostic's path. */
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

  /** The location of a member. */
  in(name: string): SourceLocation {
    return new SourceLocation([...this.at, name], [...this.key, name])
  }

  /** The location of a list item. Default of `id`: the index. */
  item(index: number, id: string = String(index)): SourceLocation {
    return new SourceLocation([...this.at, index], [...this.key, id])
  }

  get name(): string {
    return this.key.at(-1) ?? ''
  }

  /** JSON pointer into the request; where it would be too long, the pointer to the nearest enclosing object that fits. */
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
