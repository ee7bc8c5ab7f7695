import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { ParleyError } from '@parley/kernel'
import {
  type BlobContent,
  type BlobEntry,
  type Blobs,
  type ByteRange,
  invalidKey,
  keyParts,
  withinSize,
} from '../blobs/blobs.ts'
import { StoreError } from '../errors.ts'

const MAX_BYTES = 4 * 1024 ** 3
/** S3 accepts parts of at least 5 MiB, except the last, and at most 10,000 of them. */
const PART_BYTES = 8 * 1024 ** 2
const PAGE_KEYS = 1000
const CONNECT_WITHIN_MS = 10_000
/** Requests at once. More wait here, because a request that waits too long for a connection of the client fails. */
const AT_ONCE = 32
const MAX_SOCKETS = 256
/** Time limit between two bytes, not for a whole response. */
const SILENT_AT_MOST_MS = 30_000
/** An upload that is older was left by a process that died. */
const LEFTOVER_AFTER_MS = 24 * 3_600_000
/** The characters of keys: no key begins with a prefix that has others. */
const KEY_CHARACTERS = /^[a-z0-9._/-]{0,512}$/
/** Key prefixes cached as having objects below them, which saves a request each time. */
const KNOWN_PLACES = 10_000

export interface S3BlobsOptions {
  readonly bucket: string
  /** Prefix of all keys in the bucket; empty, or ending in a slash. */
  readonly prefix: string
  /** URL of an S3-compatible store other than Amazon's, addressed as `endpoint/bucket/key`; null: Amazon S3. */
  readonly endpoint: string | null
  /** Null: the client's default (`AWS_REGION`, its configuration). */
  readonly region: string | null
  /** Most bytes of an object. Default 4 GiB. */
  readonly maxBytes?: number
  /** Keys that a listing asks for at a time. Default 1000, which is the most there is. */
  readonly pageKeys?: number
  /** Default: the client's (environment, files, the machine's role). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/**
 * Blobs in a bucket of S3 or of a compatible store. Larger streams are uploaded in parts. Throws `blobs_unavailable` when the bucket
 * cannot be reached. Removes unfinished uploads that are a day old, if it has the permission.
 */
export async function openS3Blobs(options: S3BlobsOptions): Promise<Blobs> {
  const { endpoint, region, credentials } = options
  const client = new S3Client({
    ...(region !== null && { region }),
    ...(credentials !== undefined && { credentials }),
    // Other stores support neither the newer checksums nor virtual-hosted buckets.
    ...(endpoint !== null && {
      endpoint,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      socketTimeout: SILENT_AT_MOST_MS,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
  })
  limitRequests(client, AT_ONCE)
  const blobs = new S3Blobs(client, options)
  await blobs.open()
  return blobs
}

class S3Blobs implements Blobs {
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly #maxBytes: number
  readonly #pageKeys: number
  readonly #places = new Set<string>()

  constructor(client: S3Client, { bucket, prefix, maxBytes = MAX_BYTES, pageKeys = PAGE_KEYS }: S3BlobsOptions) {
    this.#client = client
    this.#bucket = bucket
    this.#prefix = prefix
    this.#maxBytes = maxBytes
    this.#pageKeys = pageKeys
  }

  async open(): Promise<void> {
    await this.#available(() => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })))
    // Without permission to list uploads, the bucket's lifecycle rules must remove them.
    await this.#abortLeftovers().catch(() => {})
  }

  async put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const parts = keyParts(key)
    await this.#available(() => this.#assertPlace(key, parts))
    if (content instanceof Uint8Array) await this.#putWhole(key, content)
    else await this.#putStream(key, content)
  }

  async get(key: string, range?: ByteRange): Promise<BlobContent | null> {
    keyParts(key)
    // Checks only that the range is well-formed: the store knows the object's size.
    if (range !== undefined) withinSize(range, Number.MAX_SAFE_INTEGER)
    const header = range && `bytes=${range.from}-${range.to === undefined ? '' : range.to - 1}`
    const found = await this.#available(() =>
      this.#client
        .send(new GetObjectCommand({ ...this.#at(key), ...(header !== undefined && { Range: header }) }))
        .catch(ifAbsent(null)),
    )
    if (found === null) return null
    const bytes = found.Body
    if (!(bytes instanceof Readable)) throw new StoreError('blobs_unavailable', `the response for ${key} has no body`)
    const whole = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1]
    return { size: whole === undefined ? (found.ContentLength ?? 0) : Number(whole), bytes }
  }

  async size(key: string): Promise<number | null> {
    keyParts(key)
    return this.#available(() => this.#sizeOf(key))
  }

  async delete(key: string): Promise<boolean> {
    keyParts(key)
    return this.#available(async () => {
      if ((await this.#sizeOf(key)) === null) return false
      await this.#client.send(new DeleteObjectCommand(this.#at(key)))
      return true
    })
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    if (!KEY_CHARACTERS.test(prefix)) return
    for (let after: string | undefined, more = true; more; ) {
      const page = await this.#available(() =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            MaxKeys: this.#pageKeys,
            ...(after !== undefined && { ContinuationToken: after }),
          }),
        ),
      )
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        const key = Key.slice(this.#prefix.length)
        if (isKey(key)) yield { key, size: Size }
      }
      after = page.NextContinuationToken
      more = page.IsTruncated === true && after !== undefined
    }
  }

  /** Refuses a key that continues another key: a bucket allows it, a directory does not. */
  async #assertPlace(key: string, parts: readonly string[]): Promise<void> {
    const above = parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'))
    const unknown = above.filter(place => !this.#places.has(place))
    const [below, ...objects] = await Promise.all([this.#hasBelow(key), ...unknown.map(place => this.#sizeOf(place))])
    if (below) throw invalidKey(key, 'is the beginning of other keys')
    if (objects.some(size => size !== null)) throw invalidKey(key, 'begins with what is another key')
    this.#places.delete(key)
    if (this.#places.size > KNOWN_PLACES) this.#places.clear()
    for (const place of above) this.#places.add(place)
  }

  async #hasBelow(key: string): Promise<boolean> {
    const { KeyCount = 0 } = await this.#client.send(
      new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: `${this.#prefix}${key}/`, MaxKeys: 1 }),
    )
    return KeyCount > 0
  }

  async #sizeOf(key: string): Promise<number | null> {
    const found = await this.#client.send(new HeadObjectCommand(this.#at(key))).catch(ifAbsent(null))
    return found === null ? null : (found.ContentLength ?? 0)
  }

  async #putWhole(key: string, content: Uint8Array): Promise<void> {
    this.#assertSize(content.length)
    await this.#available(() =>
      this.#client.send(new PutObjectCommand({ ...this.#at(key), Body: content, ContentLength: content.length })),
    )
  }

  async #putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const source = new CheckedSource(content, size => this.#assertSize(size))
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(key), Body: Readable.from(source, { objectMode: false }) },
      partSize: PART_BYTES,
      queueSize: 1,
    })
    try {
      await this.#available(() => upload.done())
    } catch (error) {
      // The upload may report that it could not be aborted instead of why it ended.
      throw source.failure ?? error
    }
  }

  async #abortLeftovers(): Promise<void> {
    const { Uploads = [] } = await this.#client.send(
      new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#prefix }),
    )
    for (const { Key, UploadId, Initiated } of Uploads)
      if (Initiated !== undefined && Date.now() - Initiated.getTime() > LEFTOVER_AFTER_MS)
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }))
  }

  /** Runs `work` and turns its failures into errors of blobs. */
  async #available<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw failureOf(error)
    }
  }

  #assertSize(bytes: number): void {
    if (bytes > this.#maxBytes)
      throw new StoreError('blob_too_large', `more than the ${this.#maxBytes} bytes that an object may have`)
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key }
  }
}

/** The chunks of a source, counted and copied, because the source may reuse its memory. */
class CheckedSource implements AsyncIterable<Uint8Array> {
  /** The error that the source or the check threw. */
  failure: unknown = null
  readonly #content: AsyncIterable<Uint8Array>
  readonly #check: (bytes: number) => void

  /** `check` receives the number of bytes so far and throws if it is too large. */
  constructor(content: AsyncIterable<Uint8Array>, check: (bytes: number) => void) {
    this.#content = content
    this.#check = check
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let size = 0
    try {
      for await (const chunk of this.#content) {
        size += chunk.length
        this.#check(size)
        yield Uint8Array.from(chunk)
      }
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}

/** Limits the concurrent requests of a client to `places`; the others wait in order. */
function limitRequests(client: S3Client, places: number): void {
  const waiting: (() => void)[] = []
  let free = places
  client.middlewareStack.add(
    next => async args => {
      if (free > 0) free--
      else await new Promise<void>(resolve => waiting.push(resolve))
      try {
        return await next(args)
      } finally {
        const longestWaiting = waiting.shift()
        if (longestWaiting === undefined) free++
        else longestWaiting()
      }
    },
    { step: 'initialize', name: 'limitRequests', priority: 'high' },
  )
}

function isKey(key: string): boolean {
  try {
    keyParts(key)
    return true
  } catch {
    return false
  }
}

/** For `catch`: gives `value` if the object does not exist, else throws the error. */
function ifAbsent<Value>(value: Value): (error: unknown) => Value {
  return error => {
    if (error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name)) return value
    throw error
  }
}

/** Turns a failure of the client into an error of blobs. */
function failureOf(error: unknown): unknown {
  if (error instanceof ParleyError || !(error instanceof Error)) return error
  if (error.name === 'InvalidRange')
    return new StoreError('blob_range_invalid', 'the range begins behind the last byte', { cause: error })
  return new StoreError('blobs_unavailable', `the store of blobs: ${error.name}: ${error.message}`, { cause: error })
}
