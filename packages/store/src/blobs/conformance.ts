import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Blobs, ByteRange } from './blobs.ts'

/** A store of blobs, for tests. */
interface BlobStore {
  readonly blobs: Blobs
  close(): Promise<void>
}

const NO_KEYS = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  '../a',
  'a/../b',
  'a/./b',
  '.a',
  'a/.incoming',
  'A',
  'a b',
  'a\\b',
  'a\0b',
  'ä',
  'a%2fb',
  'x'.repeat(129),
  Array.from({ length: 17 }, () => 'a').join('/'),
  Array.from({ length: 5 }, () => 'x'.repeat(120)).join('/'),
]

const key = fc
  .array(fc.stringMatching(/^[a-c0-2][a-c0-2._-]{0,3}$/), { minLength: 1, maxLength: 3 })
  .map(parts => parts.join('/'))

/** A server of others, on a busy machine. */
const TIMEOUT_MS = 60_000

interface BlobConformanceOptions {
  /** Why it cannot be tried on this machine. */
  readonly missing?: string | null
  /** Random sets of keys that are listed. Default 25. */
  readonly sets?: number
}

/** What every implementation of blobs does; `open` makes an empty one whose objects have at most 1 MiB. */
export function blobConformance(
  name: string,
  open: () => Promise<BlobStore>,
  { missing = null, sets = 25 }: BlobConformanceOptions = {},
): void {
  const title = `blobs in ${name}${missing === null ? '' : ` (${missing})`}`
  describe.skipIf(missing !== null)(title, { timeout: TIMEOUT_MS }, () => {
    let store: BlobStore
    let blobs: Blobs
    beforeEach(async () => {
      store = await open()
      blobs = store.blobs
    })
    afterEach(() => store.close())

    it('a blob is read as it was written, whole and by range', async () => {
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 251))
      await blobs.put('recordings/r1/000.wav', content)
      expect(await blobs.size('recordings/r1/000.wav')).toBe(300_000)
      expect(await read(blobs, 'recordings/r1/000.wav')).toEqual(content)
      const ranges: [ByteRange, Buffer][] = [
        [{ from: 0, to: 1 }, content.subarray(0, 1)],
        [{ from: 100, to: 65_700 }, content.subarray(100, 65_700)],
        [{ from: 299_999 }, content.subarray(299_999)],
        [{ from: 10, to: 9_999_999 }, content.subarray(10)],
      ]
      for (const [range, part] of ranges) {
        expect(await read(blobs, 'recordings/r1/000.wav', range)).toEqual(part)
        const found = await blobs.get('recordings/r1/000.wav', range)
        found?.bytes.destroy()
        expect(found?.size).toBe(300_000)
      }
    })

    it('reading a blob with an invalid range is refused', async () => {
      await blobs.put('a', Buffer.from('four'))
      for (const range of [
        { from: 4 },
        { from: -1 },
        { from: 2, to: 2 },
        { from: 3, to: 1 },
        { from: 0.5 },
        { from: NaN },
      ])
        await expect(blobs.get('a', range)).rejects.toMatchObject({ code: 'blob_range_invalid' })
    })

    it('a blob may be empty, and may be written from a stream of pieces', async () => {
      await blobs.put('empty', new Uint8Array())
      expect(await read(blobs, 'empty')).toEqual(Buffer.alloc(0))
      await blobs.put('pieces', pieces('on', '', 'e', ' two'))
      expect(String(await read(blobs, 'pieces'))).toBe('one two')
    })

    it('reading a blob that does not exist gives null', async () => {
      await blobs.put('a/b', Buffer.from('x'))
      for (const absent of ['b', 'a', 'a/c', 'a/b/c']) {
        expect(await blobs.get(absent)).toBeNull()
        expect(await blobs.size(absent)).toBeNull()
        expect(await blobs.delete(absent)).toBe(false)
      }
    })

    it('a blob is replaced as a whole; a reader of the old content reads it to its end', async () => {
      const old = Buffer.alloc(500_000, 'o')
      await blobs.put('a', old)
      const reading = await blobs.get('a')
      await blobs.put('a', Buffer.from('new'))
      expect(Buffer.concat(await reading!.bytes.toArray())).toEqual(old)
      expect(String(await read(blobs, 'a'))).toBe('new')
    })

    it('a blob keeps its content when a replacement breaks off or is too large', async () => {
      await blobs.put('a', Buffer.from('old'))
      const broken = (async function* () {
        yield Buffer.from('half of the ')
        throw new Error('the source broke off')
      })()
      await expect(blobs.put('a', broken)).rejects.toThrow('the source broke off')
      await expect(blobs.put('a', Buffer.alloc(2 ** 20 + 1))).rejects.toMatchObject({ code: 'blob_too_large' })
      expect(String(await read(blobs, 'a'))).toBe('old')
      expect(await keysOf(blobs, '')).toEqual(['a'])
    })

    it('concurrent writes of one key never mix their contents', async () => {
      const contents = Array.from({ length: 10 }, (_, i) => String(i).repeat(50_000))
      await Promise.all(contents.map(content => blobs.put('same/key', pieces(...content.match(/.{1,9999}/g)!))))
      expect(contents).toContain(String(await read(blobs, 'same/key')))
    })

    it('a deleted blob no longer exists', async () => {
      await blobs.put('a/b/c', Buffer.from('x'))
      expect(await blobs.delete('a/b/c')).toBe(true)
      expect(await blobs.delete('a/b/c')).toBe(false)
      expect(await blobs.get('a/b/c')).toBeNull()
      await blobs.put('a', Buffer.from('y'))
      expect(await keysOf(blobs, '')).toEqual(['a'])
    })

    it('a blob can be written to a prefix while other blobs of the prefix are deleted', async () => {
      await Promise.all(
        Array.from({ length: 100 }, async (_, i) => {
          await blobs.put(`place/deep/${i}`, Buffer.from('x'))
          if (i % 2 === 1) expect(await blobs.delete(`place/deep/${i}`)).toBe(true)
        }),
      )
      expect(await keysOf(blobs, 'place/')).toHaveLength(50)
    })

    it.each(NO_KEYS)('the key %j is refused', async wrong => {
      await expect(blobs.put(wrong, Buffer.from('x'))).rejects.toMatchObject({ code: 'blob_key_invalid' })
      await expect(blobs.get(wrong)).rejects.toMatchObject({ code: 'blob_key_invalid' })
      await expect(blobs.size(wrong)).rejects.toMatchObject({ code: 'blob_key_invalid' })
      await expect(blobs.delete(wrong)).rejects.toMatchObject({ code: 'blob_key_invalid' })
    })

    it('a key that is the path prefix of another key is refused', async () => {
      await blobs.put('a/b', Buffer.from('x'))
      for (const wrong of ['a', 'a/b/c', 'a/b/c/d'])
        await expect(blobs.put(wrong, Buffer.from('y'))).rejects.toMatchObject({ code: 'blob_key_invalid' })
      expect(await keysOf(blobs, '')).toEqual(['a/b'])
    })

    it('the list of blobs contains those whose keys begin with the prefix, sorted by key', () =>
      fc.assert(
        fc.asyncProperty(fc.uniqueArray(key, { maxLength: 12 }), fc.string({ maxLength: 3 }), async (keys, odd) => {
          const own = keys.filter(
            one => !keys.some(other => one.startsWith(`${other}/`) || other.startsWith(`${one}/`)),
          )
          for (const one of own) await blobs.put(one, Buffer.from(one))
          for (const prefix of ['', 'a', 'a/', 'a.', 'b/c', odd, ...own.map(one => one.slice(0, 2)), ...own]) {
            const wanted = own.filter(one => one.startsWith(prefix)).sort()
            expect(await keysOf(blobs, prefix)).toEqual(wanted)
          }
          for await (const { key, size } of blobs.list('')) expect(size).toBe(key.length)
          for (const one of own) await blobs.delete(one)
          expect(await keysOf(blobs, '')).toEqual([])
        }),
        { numRuns: sets },
      ))
  })
}

async function read(blobs: Blobs, key: string, range?: ByteRange): Promise<Buffer> {
  const found = await blobs.get(key, range)
  return Buffer.concat(await found!.bytes.toArray())
}

export async function keysOf(blobs: Blobs, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of blobs.list(prefix)) keys.push(key)
  return keys
}

async function* pieces(...texts: string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}
