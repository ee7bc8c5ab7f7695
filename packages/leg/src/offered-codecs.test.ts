import { SeededRandom } from '@parley/kernel'
import type { CodecName } from '@parley/media'
import type { Body } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { Negotiation } from './negotiation.ts'
import { VirtualLine } from './virtual-line.ts'

function side(seed: number, codecs: readonly CodecName[]): Negotiation {
  const random = new SeededRandom(seed)
  return new Negotiation({ address: `192.0.2.${seed}`, port: 10_000, security: 'srtp-required', codecs, random })
}

/** Payload types of the audio line of a description. */
function formatsOf({ bytes }: Body): string | undefined {
  return /^m=audio \d+ \S+ (.*?)\r?$/m.exec(new TextDecoder().decode(bytes))?.[1]
}

/** What both sides send after an offer and its answer, each with these codecs. */
function agreed(offered: readonly CodecName[], accepted: readonly CodecName[]) {
  const [caller, callee] = [side(1, offered), side(2, accepted)]
  const offer = caller.offer({})
  const answer = callee.answer(offer)
  if (!answer.ok) throw new Error(answer.detail)
  const agreement = caller.acceptAnswer(answer.body)
  if (!agreement.ok) throw new Error(agreement.detail)
  return {
    offer: formatsOf(offer),
    answer: formatsOf(answer.body),
    codecs: [agreement.parameters.codec, answer.parameters.codec],
  }
}

describe('a call whose offer contains PCMU and G722', () => {
  it('the offer lists both codecs in order of preference, each with its static payload type', () => {
    expect(agreed(['PCMU', 'G722'], ['PCMU']).offer).toBe('0 9 101')
    expect(agreed(['G722', 'PCMU'], ['PCMU']).offer).toBe('9 0 101')
  })

  it.each([
    { offered: ['PCMU', 'G722'], accepted: ['PCMU', 'G722'], codec: 'PCMU', answer: '0 101' },
    { offered: ['G722', 'PCMU'], accepted: ['PCMU', 'G722'], codec: 'G722', answer: '9 101' },
    { offered: ['PCMU', 'G722'], accepted: ['G722', 'PCMU'], codec: 'PCMU', answer: '0 101' },
    { offered: ['G722', 'PCMU'], accepted: ['PCMU', 'PCMA'], codec: 'PCMU', answer: '0 101' },
    { offered: ['PCMU', 'G722'], accepted: ['G722'], codec: 'G722', answer: '9 101' },
  ] as const)(
    'an offer of $offered to a side that accepts $accepted leads to $codec on both sides',
    ({ offered, accepted, codec, answer }) => {
      expect(agreed(offered, accepted)).toMatchObject({ answer, codecs: [codec, codec] })
    },
  )

  it('an offer of G722 alone to a side that accepts PCMU alone is refused with 488', () => {
    const answer = side(2, ['PCMU']).answer(side(1, ['G722']).offer({}))
    expect(answer).toMatchObject({ ok: false, status: 488 })
  })

  it.each([
    { offered: ['G722', 'PCMU'], sampleRateHz: 16_000 },
    { offered: ['PCMU', 'G722'], sampleRateHz: 8000 },
  ] as const)('an inbound leg that is offered $offered has a sample rate of $sampleRateHz Hz', async call => {
    const line = new VirtualLine({ answering: { codecs: ['PCMU', 'G722'] } })
    await line.dial({ codecs: call.offered })
    await line.pass(1000)
    expect(line.b.leg?.format.sampleRateHz).toBe(call.sampleRateHz)
    expect(line.a.eventTypes()).toContain('answered')
  })
})
