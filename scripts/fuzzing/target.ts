import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../repository.ts'

/** Something that takes any bytes and throws only when it is wrong. */
export interface FuzzTarget {
  readonly name: string
  /** The file it lives in. */
  readonly module: string
  /** Throws on a finding. Keeps no state between calls. */
  readonly run: (bytes: Uint8Array) => void
  readonly seeds: readonly Uint8Array[]
  readonly dictionary: readonly Uint8Array[]
  readonly maxLength: number
}

/** Where a target's function lives, relative to the root; loaded in the fuzzing thread. */
interface TargetSource {
  readonly module: string
  readonly function: string
  readonly seeds: () => Uint8Array[]
  readonly words: readonly string[]
  readonly maxLength: number
}

const SIP_WORDS = [
  'SIP/2.0',
  'sip:',
  'sips:',
  'tel:',
  ' SIP/2.0\r\n',
  '\r\n\r\n',
  '\r\n ',
  'INVITE',
  'ACK',
  'BYE',
  'CANCEL',
  'REGISTER',
  'OPTIONS',
  'Via: SIP/2.0/TLS ',
  'v:',
  ';branch=z9hG4bK',
  ';rport',
  ';received=',
  ';tag=',
  ';lr',
  ';transport=tls',
  ';maddr=',
  'Call-ID: ',
  'CSeq: ',
  'Max-Forwards: ',
  'Contact: *',
  'Content-Length: ',
  'l: ',
  'Content-Type: ',
  'multipart/mixed;boundary=',
  'application/sdp',
  'Route: <sip:',
  'Record-Route: ',
  'Require: ',
  'Authorization: Digest ',
  'WWW-Authenticate: Digest realm="',
  'nonce="',
  ', ',
  '%00',
  '%',
  '[::1]',
  '[::',
  '"\\"',
  '<>',
  '\0',
  '\u00e9',
  '\ufeff',
]

const SDP_WORDS = [
  'v=0\r\n',
  'o=- 1 1 IN IP4 127.0.0.1\r\n',
  's=-\r\n',
  'c=IN IP4 ',
  'c=IN IP6 ::1',
  't=0 0\r\n',
  'm=audio ',
  'm=video 0 ',
  ' RTP/AVP 0',
  ' RTP/SAVP 8 101',
  'a=rtpmap:',
  'a=fmtp:101 0-15',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:',
  '|2^20|1:4',
  'a=sendrecv',
  'a=sendonly',
  'a=inactive',
  'a=ptime:',
  'telephone-event/8000',
  'PCMU/8000',
  '0.0.0.0',
]

const torture = (): Uint8Array[] =>
  globSync('sip/src/message/fixtures/**/*.dat', { cwd: repositoryRoot })
    .sort()
    .map(path => readFileSync(join(repositoryRoot, path)))

const SDP_OFFER =
  'v=0\r\no=- 3905 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 20000 RTP/SAVP 0 8 101\r\n' +
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\na=rtpmap:101 telephone-event/8000\r\n' +
  'a=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n'

/** Offers of the torture messages, and one of ours. */
function sdpSeeds(): Uint8Array[] {
  const bodies = torture()
    .map(message => Buffer.from(message).toString('latin1'))
    .map(text => text.slice(text.indexOf('\r\n\r\n') + 4))
    .filter(body => body.startsWith('v='))
  return [SDP_OFFER, ...bodies].map(body => Buffer.from(body, 'latin1'))
}

/** RTP plain and with extension and padding, a telephone event, sender report with SDES, receiver report, BYE. */
const rtpSeeds = (): Uint8Array[] =>
  [
    `80000001000000a01234abcd${'ff'.repeat(160)}`,
    'b1e5ffff000000a01234abcd0000bede00020100000000000100deadbeef00000003',
    '80650002000000a01234abcd050a00a0',
    '80c8000600000001e000000080000000000000a0000000100000064081ca000300000001010361406200000000',
    '81c90007000000010000000200ffffff0000ffff000000010000000200000003',
    '81cb000100000001',
  ].map(hex => Buffer.from(hex, 'hex'))

const SOURCES: Readonly<Record<string, TargetSource>> = {
  message: {
    module: 'sip/fuzz/message.fuzz.ts',
    function: 'fuzzMessage',
    seeds: torture,
    words: SIP_WORDS,
    maxLength: 16_384,
  },
  sdp: { module: 'media/fuzz/sdp.fuzz.ts', function: 'fuzzSdp', seeds: sdpSeeds, words: SDP_WORDS, maxLength: 8192 },
  rtp: { module: 'media/fuzz/rtp.fuzz.ts', function: 'fuzzRtp', seeds: rtpSeeds, words: [], maxLength: 1500 },
  // Broken on purpose: they show that the harness finds what it is there to find.
  'planted-throw': {
    module: 'scripts/fuzzing/planted.ts',
    function: 'throwsOnOldVersion',
    seeds: () => [Buffer.from('OPTIONS sip:a@example.com SIP/2.0\r\nCSeq: 1 OPTIONS\r\n\r\n')],
    words: SIP_WORDS,
    maxLength: 4096,
  },
  'planted-hang': {
    module: 'scripts/fuzzing/planted.ts',
    function: 'hangsOnTabs',
    seeds: () => [],
    words: [],
    maxLength: 64,
  },
}

/** Names of the targets that the product stands for. */
export const FUZZ_TARGETS: readonly string[] = Object.keys(SOURCES).filter(name => !name.startsWith('planted-'))

export async function loadTarget(name: string): Promise<FuzzTarget> {
  const source = SOURCES[name]
  if (source === undefined)
    throw new Error(`there is no fuzz target "${name}"; there are ${Object.keys(SOURCES).join(', ')}`)
  const module = join(repositoryRoot, source.module)
  const loaded = (await import(module)) as Record<string, unknown>
  const run = loaded[source.function]
  if (typeof run !== 'function') throw new Error(`${source.module} exports no function ${source.function}`)
  return {
    name,
    module,
    run: bytes => run(bytes),
    seeds: source.seeds(),
    dictionary: source.words.map(word => Buffer.from(word, 'utf8')),
    maxLength: source.maxLength,
  }
}
