import type { LegEnd, LegSecurity, MediaStatistics } from '@parley/leg'
import { type CallMessages, hintOf } from './explain-call.ts'
import { type Finding, ok, problem, skipped } from './finding.ts'

/** How the same call fared with other media. Null: it was not tried. */
interface OtherMedia {
  /** With plain RTP, or SRTP where the trunk has plain RTP. */
  readonly otherSecurity: boolean | null
  /** With every codec. */
  readonly allCodecs: boolean | null
}

/** A refusal of our session description. `taken`: with which other media the carrier took the call. */
export function explainMedia(
  end: LegEnd,
  security: LegSecurity,
  codecs: readonly string[],
  taken: OtherMedia,
  messages: CallMessages,
): Finding {
  const answer = `${refusalText(end)} ${hintOf(messages)}`.trim()
  const protocol = answeredProtocol(messages)
  const isSecure = security !== 'rtp-only'
  if (isSecure && (taken.otherSecurity === true || protocol === 'RTP/AVP'))
    return problem(
      'call',
      'srtp_refused',
      `${answer} The carrier refuses SRTP; it takes plain RTP.`,
      'Switch SRTP on at the carrier ("secure trunking", "encrypted media"). Only if it has none, and on purpose: --media rtp, with which anyone on the path can listen.',
    )
  if (!isSecure && taken.otherSecurity === true)
    return problem(
      'call',
      'srtp_required',
      `${answer} The carrier refuses plain RTP; it takes SRTP.`,
      'Set --media srtp, with --transport tls.',
    )
  if (taken.allCodecs === true)
    return problem(
      'call',
      'codec_refused',
      `${answer} The carrier takes none of ${codecs.join(', ')}; it takes another codec.`,
      'Set --codecs PCMU,PCMA, or "--codecs default".',
    )
  return problem(
    'call',
    'media_refused',
    `${answer} The offer had ${isSecure ? `SRTP (${offeredSuites(messages).join(', ')})` : 'plain RTP'} with ${codecs.join(', ')}.`,
    'Compare it with what the carrier documents: codecs, SRTP suites, packet times.',
  )
}

function refusalText(end: LegEnd): string {
  return end.sipStatus !== null && end.sipStatus >= 300
    ? `The INVITE was answered ${end.sipStatus} ${end.reason}.`
    : `The INVITE was answered, and its session description cannot be used: ${end.detail}.`
}

/** Suites of the last INVITE's session description (RFC 4568 section 9.1). */
function offeredSuites({ invites }: CallMessages): string[] {
  const offer = Buffer.from(invites.at(-1)?.body ?? []).toString('latin1')
  return [...offer.matchAll(/^a=crypto:\d+ +(\S+)/gm)].map(([, suite]) => suite!)
}

/** Transport of the audio in the last session description of the far end; undefined: there is none, or it refuses the audio. */
function answeredProtocol({ responses }: CallMessages): string | undefined {
  const body = responses.findLast(({ status, body }) => status < 300 && body.length > 0)?.body
  const [, port, protocol] = /^m=audio (\d+)\S* (\S+)/m.exec(Buffer.from(body ?? []).toString('latin1')) ?? []
  return port === '0' ? undefined : protocol
}

/** What an answered test call says about audio. `announced`: our address in its session description. */
export function explainAudio(statistics: MediaStatistics | undefined, announced: string): readonly Finding[] {
  if (statistics === undefined) return [skipped('audio', 'The call had no media.')]
  return [received(statistics, announced), ...sent(statistics)]
}

function received(statistics: MediaStatistics, announced: string): Finding {
  const { packetsReceived, jitterMeanMs, packetsLost, rejected } = statistics
  if (packetsReceived > 0)
    return ok(
      'audio',
      `${packetsReceived} packets came in, ${Math.max(0, packetsLost)} were lost, the mean jitter was ${jitterMeanMs.toFixed(1)} ms.`,
    )
  if (rejected.unauthenticated > 0)
    return problem(
      'audio',
      'srtp_keys_differ',
      `One-way audio: ${rejected.unauthenticated} packets came in, and none was encrypted with the key of the session description.`,
      'The fault is at the carrier: it has to use the key that it sent. Show it a ladder of a run ("parley runs ladder RUN --full").',
    )
  if (rejected.foreign > 0)
    return problem(
      'audio',
      'media_from_elsewhere',
      `One-way audio: ${rejected.foreign} packets came in, all from an address that the carrier did not name.`,
      "Add the carrier's media networks to --source.",
    )
  return problem(
    'audio',
    'no_audio_received',
    `One-way audio: no packet came in. The carrier was told to send to ${announced}.`,
    'Open the UDP ports of RTP in the firewall for the carrier. Behind a NAT set PARLEY_MEDIA_ADDRESS to the public address and forward the same ports.',
  )
}

function sent({ farEnd, sourcesRefused }: MediaStatistics): readonly Finding[] {
  if (sourcesRefused > 0 && (farEnd === null || farEnd.loss > 0.5))
    return [
      problem(
        'audio',
        'media_from_elsewhere',
        'The audio came from a private address that the carrier did not name, and no audio is sent there.',
        "Add the carrier's media networks to --source.",
      ),
    ]
  if (farEnd === null)
    return [
      skipped(
        'audio',
        'The far end sent no report about our audio: listen for the tone at the number that was called.',
      ),
    ]
  if (farEnd.loss > 0.5)
    return [
      problem(
        'audio',
        'no_audio_sent',
        `One-way audio: the far end reports that ${Math.round(farEnd.loss * 100)} % of our packets did not arrive.`,
        'Open outgoing UDP in the firewall. Check that the route to the carrier is the one by which its signalling comes.',
      ),
    ]
  return [ok('audio', `The far end reports a loss of ${(farEnd.loss * 100).toFixed(1)} % of our packets.`)]
}
