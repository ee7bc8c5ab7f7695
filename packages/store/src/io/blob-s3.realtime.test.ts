import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blobConformance, keysOf } from '../blobs/conformance.ts'
import { type S3Server, s3ServerMissing, startS3Server } from '../blobs/conformance-s3.ts'
import { openS3Blobs, type S3BlobsOptions } from './blob-s3.ts'

const missing = s3ServerMissing()
let server: S3Server
beforeAll(async () => {
  if (missing === null) server = await startS3Server()
})
afterAll(() => server?.stop())

async function place(prefix = ''): Promise<S3BlobsOptions> {
  const bucket = `b-${randomBytes(8).toString('hex')}`
  await server.bucket(bucket)
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return { bucket, prefix, endpoint: server.endpoint, region: 'eu-central-1', credentials }
}

blobConformance(
  'a bucket',
  async () => ({
    blobs: await openS3Blobs({ ...(await place('parley/blobs/')), maxBytes: 2 ** 20 }),
    close: async () => {},
  }),
  // Moto takes its time.
  { missing, sets: 4 },
)

describe.skipIf(missing !== null)(`a bucket of blobs${missing === null ? '' : ` (${missing})`}`, () => {
  it('a bucket receives a large blob in parts, and nothing of an upload that breaks off', async () => {
    const options = await place()
    const blobs = await openS3Blobs(options)
    const whole = randomBytes(18 * 2 ** 20 + 7)
    const chunks = async function* (upTo: number) {
      for (let at = 0; at < upTo; at += 100_000) yield whole.subarray(at, Math.min(at + 100_000, upTo))
    }
    await blobs.put('large', chunks(whole.length))
    const found = await blobs.get('large')
    expect(found!.size).toBe(whole.length)
    expect(Buffer.concat(await found!.bytes.toArray()).equals(whole)).toBe(true)
    const middle = await blobs.get('large', { from: 8 * 2 ** 20 - 3, to: 8 * 2 ** 20 + 3 })
    expect(Buffer.concat(await middle!.bytes.toArray())).toEqual(whole.subarray(8 * 2 ** 20 - 3, 8 * 2 ** 20 + 3))
    const broken = (async function* () {
      yield* chunks(17 * 2 ** 20)
      throw new Error('the source broke off')
    })()
    await expect(blobs.put('broken', broken)).rejects.toThrow('the source broke off')
    expect(await keysOf(blobs, '')).toEqual(['large'])
    const uploads = await (await fetch(`${server.endpoint}/${options.bucket}?uploads`)).text()
    expect(uploads).not.toContain('<Upload>')
  })

  it('a bucket lists more blobs than one page of the service holds', async () => {
    const options = await place('deep/')
    const blobs = await openS3Blobs({ ...options, pageKeys: 10 })
    const keys = Array.from({ length: 31 }, (_, i) => `many/${10 + i}`)
    for (const key of [...keys, 'more']) await blobs.put(key, Buffer.from('x'))
    expect(await keysOf(blobs, 'many/')).toEqual(keys)
  })

  it('a shared bucket shows only objects under the prefix whose names are valid keys', async () => {
    const options = await place()
    const [ours, theirs] = [
      await openS3Blobs({ ...options, prefix: 'ours/' }),
      await openS3Blobs({ ...options, prefix: 'theirs/' }),
    ]
    await ours.put('a', Buffer.from('1'))
    await theirs.put('b', Buffer.from('2'))
    await fetch(`${server.endpoint}/${options.bucket}/ours/No%20key`, { method: 'PUT', body: 'x' })
    expect([await keysOf(ours, ''), await keysOf(theirs, '')]).toEqual([['a'], ['b']])
    expect(await ours.get('b')).toBeNull()
  })

  it('a bucket that cannot be used names itself and the cause', async () => {
    const options = await place()
    await expect(openS3Blobs({ ...options, bucket: 'nobody-made-this' })).rejects.toMatchObject({
      code: 'blobs_unavailable',
      retryable: true,
    })
    const blobs = await openS3Blobs(options)
    await fetch(`${server.endpoint}/${options.bucket}`, { method: 'DELETE' })
    for (const work of [
      () => blobs.put('a', Buffer.from('x')),
      () => keysOf(blobs, ''),
      () => openS3Blobs({ ...options, endpoint: 'http://127.0.0.1:9' }),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'blobs_unavailable', retryable: true })
  })
})
