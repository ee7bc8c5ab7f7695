import { codecByName } from '../codec/codecs.ts'
import { MediaError } from '../errors.ts'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { keyAndSaltBytes } from '../srtp/srtp-suite.ts'
import type { InBandDigits, MediaParameters, SrtpParameters } from './media-session.ts'

const MIN_PTIME_MS = 10
const MAX_PTIME_MS = 60

function copied({ send, receive }: SrtpParameters): SrtpParameters {
  return {
    send: { ...send, keyAndSalt: Uint8Array.from(send.keyAndSalt) },
    receive: { ...receive, keyAndSalt: Uint8Array.from(receive.keyAndSalt) },
  }
}

/**
 * Validated parameters of a session: the peer's address is IPv4 (else `MediaError` "unsupported_address"), keys have
 * the length that their suite needs ("srtp_key_invalid"), the packet time is rounded down to a multiple of 10 ms and
 * kept within 10 to 60. Keys are copied, so that the media thread is sent their bytes alone and not the memory that they are part of.
 */
export function checkedParameters(parameters: MediaParameters): MediaParameters {
  const { remote, srtp, ptimeMs } = parameters
  if (remote !== null && parseIpv4(remote.address) === null) {
    throw new MediaError('unsupported_address', `media goes to IPv4 addresses, not to ${remote.address}`)
  }
  if (remote !== null && !(Number.isInteger(remote.port) && remote.port >= 0 && remote.port < 65535)) {
    throw new MediaError('unsupported_address', `${remote.port} is not an RTP port`)
  }
  for (const key of srtp === null ? [] : [srtp.send, srtp.receive]) {
    const wanted = keyAndSaltBytes(key.suite)
    if (key.keyAndSalt.length !== wanted) {
      throw new MediaError('srtp_key_invalid', `SRTP key and salt are ${key.keyAndSalt.length} bytes, not ${wanted}`)
    }
  }
  const ptime = Math.min(MAX_PTIME_MS, Math.max(MIN_PTIME_MS, Math.floor(ptimeMs / 10) * 10 || 20))
  return { ...parameters, ptimeMs: ptime, srtp: srtp === null ? null : copied(srtp) }
}

/** One line that describes a session's chain in both directions. */
export function describeChain(
  label: string,
  local: { readonly address: string; readonly port: number },
  parameters: MediaParameters | null,
  recording: string | null,
  inBandDigits: InBandDigits = 'auto',
): string {
  const here = `${label}: udp ${local.address}:${local.port}`
  if (parameters === null) return `${here}, nothing negotiated yet`
  const { remote, codec, payloadType, ptimeMs, dtmfPayloadType, srtp, direction } = parameters
  const { clockRate } = codecByName(codec)
  const events = dtmfPayloadType === null ? '' : ` + telephone-event ${dtmfPayloadType}`
  const record = recording === null ? '' : `; record ${recording}`
  const tones = inBandDigits === 'on' || (inBandDigits === 'auto' && dtmfPayloadType === null) ? ', in-band digits' : ''
  const taps = `voice activity${tones}, heard${recording === null ? '' : ', recorder left'}`
  const sent = recording === null ? '' : ' + recorder right'
  const peer = remote === null ? 'nowhere' : `udp ${remote.address}:${remote.port}`
  return (
    `${here} -> ${suite(srtp, 'receive')} -> ${codec}/${clockRate} ${payloadType}${events} -> reorder, conceal -> ${taps} | ` +
    `play${sent} -> ${codec}/${clockRate} ${payloadType} ${ptimeMs} ms${events} -> ${suite(srtp, 'send')} -> ${peer}; ` +
    `${direction}${record}`
  )
}

function suite(srtp: SrtpParameters | null, side: 'send' | 'receive'): string {
  return srtp === null ? 'rtp' : `srtp ${srtp[side].suite}`
}
