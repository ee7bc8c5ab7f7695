import type { Json } from '@parley/contract'
import { isObject, type JsonObject } from './json.ts'
import { idOf } from './read-value.ts'
import { partsOf } from './source-location.ts'

/** An export with all members (`whole`) and without those that equal their default (`bare`), which stored values may replace. */
interface WrittenExport {
  readonly whole: JsonObject
  readonly bare: JsonObject
}

/** Writes the unplaced values of an import back to their locations, except where the draft has a value there now. */
export function writeBack(
  { whole, bare }: WrittenExport,
  unplaced: JsonObject,
  isWritten: (pointer: string) => boolean,
): void {
  const places = Object.keys(unplaced).map(pointer => ({ pointer, parts: partsOf(pointer) }))
  for (const { pointer, parts } of places.sort((a, b) => byPosition(a.parts, b.parts))) {
    const name = parts.pop()
    if (name === undefined || parts.length === 0 || isWritten(pointer)) continue
    put(ownerAt(whole, parts), ownerAt(bare, parts), [parts.at(-1)!, name], structuredClone(unplaced[pointer]!))
  }
}

/** Orders pointers: items by index come before items by id, in the order of the list, so that earlier items are in place first. */
function byPosition(a: readonly string[], b: readonly string[]): number {
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
    // A member that the bare export does not have is a default or absent.
    owner[name] = value
    if (isObject(bare)) bare[name] = value
  }
}

/** The object or list at `parts`. Missing objects in and around `parley` are created. */
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
