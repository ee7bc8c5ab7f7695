import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { encodePcmu } from '../codec/g711.ts'
import { WAV_HEADER_BYTES, writeWavHeader } from '../recorder/wav.ts'
import { VirtualCall } from './testing/virtual-call.ts'

/** Both directions of `seconds` of a call over a lossy, jittery network, with a hold and a digit, as the WAV that is recorded. */
async function recordedWav(codec: 'PCMU' | 'PCMA', ptimeMs: number, seconds: number): Promise<Uint8Array> {
  const conditions = { latencyMs: 30, jitterMs: 25, loss: 0.03 }
  const call = await VirtualCall.start({ codec, ptimeMs, conditions, seed: 7 })
  call.a.talking = true
  call.b.talking = true
  call.run(seconds * 400)
  call.a.session.sendDigits('5#')
  call.apply({ a: { direction: 'sendonly' }, b: { direction: 'recvonly' } })
  call.run(seconds * 200)
  call.apply({})
  call.a.session.flush()
  call.run(seconds * 400)
  await call.a.session.close()
  const { left, right } = call.a.plane.captured(call.a.session)
  const wav = new Uint8Array(WAV_HEADER_BYTES + 2 * left.length)
  writeWavHeader(wav, left.length, 8000)
  const companded = [new Uint8Array(left.length), new Uint8Array(left.length)] as const
  encodePcmu(left, 0, left.length, companded[0], 0)
  encodePcmu(right, 0, right.length, companded[1], 0)
  for (let i = 0; i < left.length; i++) wav.set([companded[0][i]!, companded[1][i]!], WAV_HEADER_BYTES + 2 * i)
  return wav
}

/** SHA-256 of recordings made before sessions had formats other than 8 kHz: a G.711 call sounds as it always did. */
describe('the recording of a G.711 call is the same byte for byte', () => {
  it.each([
    ['PCMU', 20, 'fdfcefc3e936390b7c33246c93bf2f62ff94b79066625eb9b9c7d814feae8c8f'],
    ['PCMU', 30, 'ecc669f5122b2b66c4e4f282ade67ba801bcc3baf8294bc861f1947490d9a54d'],
    ['PCMA', 20, '279278a34cc5de258ac79918ff1fc8324fef1ae59af31a173a41504d193181e5'],
  ] as const)(
    'the recording of a call with %s in packets of %i ms has its fixed digest',
    async (codec, ptimeMs, digest) => {
      const wav = await recordedWav(codec, ptimeMs, 20)
      expect(createHash('sha256').update(wav).digest('hex')).toBe(digest)
    },
  )
})
