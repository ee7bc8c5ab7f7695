import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzMessage } from '../../fuzz/message.fuzz.ts'
import { canonicalName } from './canonical-name.ts'
import { decodeFile } from './decode.ts'
import { HeaderList } from './header-list.ts'
import type { NameAddr, OpaqueUri, Params, SipMessage, SipRequest, SipResponse, SipUri, Via } from './message.ts'
import { parseNameAddr, serialiseNameAddr } from './name-addr.ts'
import { parseDatagram } from './parse-datagram.ts'
import { serialise } from './serialise.ts'
import { StreamFramer } from './stream-framer.ts'
import { parseUri, serialiseUri, uriEquals } from './uri.ts'

const TOKEN_CHARACTERS = [..."abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-.!%*_+`'~"]
const token = fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), minLength: 1, maxLength: 12 })
/** Any text that a header line can carry. */
const text = fc.string({ unit: 'binary', maxLength: 20 }).map(value => value.replace(/[\r\n]/g, ' '))
const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map(address => `[${address.toLowerCase()}]`),
)
const port = fc.option(fc.integer({ min: 0, max: 65535 }), { nil: undefined })

const paramsOf = (name: fc.Arbitrary<string>): fc.Arbitrary<Params> =>
  fc
    .array(
      fc.tuple(
        name.map(written => written.toLowerCase()),
        fc.option(text),
      ),
      { maxLength: 4 },
    )
    .map(pairs => new Map(pairs))
const headerParams = paramsOf(token)
const uriParams = paramsOf(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).filter(name => name.toLowerCase() === name),
)

const sipUri: fc.Arbitrary<SipUri> = fc
  .record({
    scheme: fc.constantFrom('sip' as const, 'sips' as const),
    user: fc.option(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), { nil: undefined }),
    password: fc.option(fc.string({ unit: 'binary', maxLength: 10 }), { nil: undefined }),
    host,
    port,
    params: uriParams,
    headers: fc.array(
      fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 20 })),
      {
        maxLength: 3,
      },
    ),
  })
  .map(uri => ({ ...uri, password: uri.user === undefined ? undefined : uri.password }))
const opaqueUri: fc.Arbitrary<OpaqueUri> = fc.constantFrom(
  { scheme: 'tel', opaque: '+1-201-555-0123;phone-context=example.com' },
  { scheme: 'urn', opaque: 'service:sos' },
  { scheme: 'http', opaque: '//www.example.com/?a=b' },
)
const uri = fc.oneof({ weight: 5, arbitrary: sipUri }, opaqueUri)
const nameAddr: fc.Arbitrary<NameAddr> = fc.record({
  displayName: fc.option(text, { nil: undefined }),
  uri,
  params: headerParams,
})
const via: fc.Arbitrary<Via> = fc
  .record({ transport: token.map(name => name.toUpperCase()), host, port, params: headerParams, branch: token })
  .map(({ branch, ...value }) => ({ ...value, params: new Map([...value.params, ['branch', `z9hG4bK${branch}`]]) }))
/** Generic values keep their inner white space, but not that at their ends, and no NUL. */
const headerValue = text.map(value => value.replaceAll('\0', '').replace(/^[ \t]+|[ \t]+$/g, ''))
const header = fc.tuple(
  token.map(name => canonicalName(`X-${name}`)),
  headerValue,
)

const fields = fc.record({
  via: fc.array(via, { minLength: 1, maxLength: 3 }),
  from: nameAddr,
  to: nameAddr,
  callId: token,
  route: fc.array(nameAddr, { maxLength: 3 }),
  recordRoute: fc.array(nameAddr, { maxLength: 3 }),
  contact: fc.oneof(fc.constant('*' as const), fc.array(nameAddr, { maxLength: 3 })),
  headers: fc.array(header, { maxLength: 5 }).map(entries => new HeaderList(entries)),
  body: fc.uint8Array({ maxLength: 60 }),
})
const cseq = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const requestUri = uri.map(value => ('host' in value ? { ...value, headers: [] } : value))
const request: fc.Arbitrary<SipRequest> = fc
  .tuple(fields, token, requestUri, fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }), cseq)
  .map(([common, method, target, maxForwards, sequence]) => ({
    kind: 'request',
    method,
    uri: target,
    maxForwards,
    ...common,
    cseq: { sequence, method },
  }))
const response: fc.Arbitrary<SipResponse> = fc
  .tuple(
    fields,
    token,
    fc.integer({ min: 100, max: 699 }),
    text.map(value => value.replaceAll('\0', '')),
    cseq,
  )
  .map(([common, method, status, reason, sequence]) => ({
    kind: 'response',
    status,
    reason,
    ...common,
    cseq: { sequence, method },
  }))
const message: fc.Arbitrary<SipMessage> = fc.oneof(request, response)

/** Cuts bytes into chunks at arbitrary places. */
function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
}

describe('serialising and parsing gives back the same value', () => {
  it('a URI is read back as it was written', () => {
    fc.assert(
      fc.property(uri, value => {
        const read = parseUri(serialiseUri(value))
        expect(read).toEqual(value)
        expect(uriEquals(read!, value)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('an address is read back as it was written', () => {
    fc.assert(
      fc.property(nameAddr, value => {
        expect(parseNameAddr(serialiseNameAddr(value))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('a message is read back without a relevant fault and serialises to the same bytes again', () => {
    fc.assert(
      fc.property(message, value => {
        const bytes = serialise(value)
        const result = parseDatagram(bytes)
        if (!result.ok) throw new Error(result.fault.detail)
        expect(result.message).toEqual(value)
        expect(Buffer.from(serialise(result.message)).equals(bytes)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a stream', () => {
  it('a stream yields the same messages as datagrams, however it is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (messages, cuts) => {
          const datagrams = messages.map(serialise)
          const framer = new StreamFramer()
          const read: unknown[] = []
          for (const chunk of chunksOf(Buffer.concat(datagrams), cuts)) {
            framer.push(chunk)
            for (let next = framer.next(); next !== undefined; next = framer.next()) read.push(next)
          }
          expect(read).toEqual(datagrams.map(bytes => parseDatagram(bytes)))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('keep-alives between messages do not change them, whatever the chunk size', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(message, fc.constantFrom('\r\n', '\r\n\r\n')), { maxLength: 6 }), parts => {
        const bytes = Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : serialise(part))))
        const messagesOf = (chunks: readonly Uint8Array[]) => {
          const framer = new StreamFramer()
          const read: unknown[] = []
          for (const chunk of chunks) {
            framer.push(chunk)
            for (let next = framer.next(); next !== undefined; next = framer.next()) if ('ok' in next) read.push(next)
          }
          return read
        }
        const single = messagesOf(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))
        expect(single).toEqual(messagesOf([bytes]))
        expect(single).toHaveLength(parts.filter(part => typeof part !== 'string').length)
      }),
      { numRuns: 50 },
    )
  })
})

describe('arbitrary bytes', () => {
  it('noise and mutated messages give a parse result and never throw', () => {
    const mutation = fc.record({
      at: fc.nat(),
      remove: fc.integer({ min: 0, max: 4 }),
      insert: fc.uint8Array({ maxLength: 4 }),
    })
    const mutated = fc.tuple(message, fc.array(mutation, { maxLength: 6 })).map(([value, mutations]) => {
      let bytes = Buffer.from(serialise(value))
      for (const { at, remove, insert } of mutations) {
        const start = at % (bytes.length + 1)
        bytes = Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)])
      }
      return bytes
    })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), bytes => {
        fuzzMessage(bytes)
        expect([0, 2]).toContain(decodeFile(bytes).exitCode)
      }),
      { numRuns: 500 },
    )
  })
})
