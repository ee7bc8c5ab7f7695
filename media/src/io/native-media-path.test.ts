import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CallPage } from '../session/call-page.ts'
import { SessionRings } from '../session/session-rings.ts'
import { loadNativeAddon } from './native-packet-io.ts'
import { NATIVE_PATH_CASES } from './testing/native-path-conformance.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const built = (): Exclude<typeof addon, string> => addon as Exclude<typeof addon, string>

describe.skipIf(missing)(`the native media path${note}`, () => {
  it.each(NATIVE_PATH_CASES)('$name', ({ check }) => check(built()))

  it('any JavaScript arguments are accepted or throw a TypeError', () => {
    const path = new (built().MediaPath)(new Float64Array(8))
    const { memory } = new CallPage()
    path.add(1, 2, new Uint8Array(memory), new Uint8Array(new SessionRings().memory), null)
    const arrays = [Uint8Array, Uint16Array, Int32Array, Uint32Array, Float64Array, Int8Array] as const
    const array = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 4000 }), fc.boolean())
    const typed = array.map(([kind, length, isShared]) => {
      const buffer = isShared ? new SharedArrayBuffer(8 * length) : new ArrayBuffer(8 * length)
      return new arrays[kind]!(buffer as ArrayBuffer)
    })
    const numbers = fc.oneof(fc.integer({ min: -2, max: 70 }), fc.double(), fc.constantFrom(2 ** 31, 2 ** 32, -1))
    const value = fc.oneof(typed, numbers, fc.constantFrom(null, undefined, 'x', {}, Symbol('x')))
    const methods = ['add', 'remove', 'openWith', 'sealWith', 'compose', 'receive', 'advance', 'place', 'run'] as const
    fc.assert(
      fc.property(fc.constantFrom(...methods), fc.array(value, { maxLength: 18 }), (method, values) => {
        // The call itself stays.
        if (method === 'remove' && values[0] === 0) return
        try {
          Reflect.apply(path[method], path, values)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('memory that could be detached, or is no call page, is refused', () => {
    const path = new (built().MediaPath)(new Float64Array(8))
    const shared = (bytes: number) => new Uint8Array(new SharedArrayBuffer(bytes))
    expect(() => path.add(1, 2, new Uint8Array(4096), shared(4096), null)).toThrow(TypeError)
    expect(() => path.add(1, 2, shared(4096), shared(4096), null)).toThrow(TypeError)
    expect(() => path.add(-1, 2, shared(4096), shared(4096), null)).toThrow(TypeError)
    expect(path.openWith(5, null)).toBe(false)
    path.remove(5)
  })
})
