import type { Json } from '@parley/contract'
import { isObject, type JsonObject } from './json.ts'
import { idOf } from './read-value.ts'
import { partsOf } from './source-location.ts'

/** An export, whole, and the same without what would hold anyway: what only says a default gives way to what was kept. */
interface WrittenExport {
  readonly whole: JsonObject
  readonly bare: JsonObject
}

/** Writes what a draft could not place back to where it stood, unless the draft says something there by now. */
export function writeBack(
  { whole, bare }: WrittenExport,
  unplaced: JsonObject,
  isDone: (pointer: string) => boolean,
): void {
  const places = Object.keys(unplaced).map(pointer => ({ pointer, parts: partsOf(pointer) }))
  for (const { pointer, parts } of places.sort((a, b) => inTurn(a.parts, b.parts))) {
    const name = parts.pop()
    if (name === undefined || parts.length === 0 || isDone(pointer)) continue
    put(ownerAt(whole, parts), ownerAt(bare, parts), [parts.at(-1)!, name], structuredClone(unplaced[pointer]!))
  }
}

/** Items that go by their index before those with a name, in the order of the list: each finds the ones before it there. */
function inTurn(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, depth) => part !== b[depth])
  if (at === -1) return a.length - b.length
  const [one, other] = [a[at]!, b[at]]
  if (other === undefined) return 1
  const [isIndex, isOtherIndex] = [INDEX.test(one), INDEX.test(other)]
  if (isIndex && isOtherIndex) return Number(one) - Number(other)
  if (isIndex !== isOtherIndex) return isIndex ? -1 : 1
  return one < other ? -1 : 1
}

const INDEX = /^(0|[1-9][0-9]{0,8})$/

type Place = readonly [list: string, name: string]

function put(owner: Json | undefined, bare: Json | undefined, [list, name]: Place, value: Json): void {
  if (Array.isArray(owner)) {
    if (owner.some(item => idOf(item, list) === name)) return
    const index = idOf(value, list) === name ? owner.length : Math.min(Number(name), owner.length)
    if (!Number.isInteger(index)) return
    owner.splice(index, 0, value)
    if (Array.isArray(bare)) bare.splice(index, 0, value)
  } else if (isObject(owner) && name !== '__proto__' && !(isObject(bare) && Object.hasOwn(bare, name))) {
    // What the bare export lacks is a default, or not there at all.
    owner[name] = value
    if (isObject(bare)) bare[name] = value
  }
}

/** The object or list that `parts` lead to; what stands in `parley` alone is made where it is missing. */
function ownerAt(root: JsonObject, parts: readonly string[]): Json | undefined {
  let value: Json | undefined = root
  for (const [depth, part] of parts.entries()) {
    if (Array.isArray(value)) value = value.find(item => idOf(item, parts[depth - 1]!) === part) ?? value[Number(part)]
    else if (isObject(value)) {
      const isExtension = part === 'parley' || parts[depth - 1] === 'parley'
      if (!Object.hasOwn(value, part) && isExtension) value[part] = {}
      value = Object.hasOwn(value, part) ? value[part] : undefined
    } else return undefined
  }
  return value
}
