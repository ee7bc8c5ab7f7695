import { expect, it } from 'vitest'
import { fromMuLaw, toMuLaw } from './mu-law.ts'

const CODES = Uint8Array.from({ length: 256 }, (_, code) => code)
const NEGATIVE_ZERO = 0x7f
const POSITIVE_ZERO = 0xff
const LOUDEST = 32_124

it('gives every code its level, and every level its code', () => {
  const levels = fromMuLaw(CODES)
  // The loudest, then where segments begin: ITU-T G.711 table 2b, in 16 bits.
  expect([0x80, 0x8f, 0x9f, 0xef, 0xff].map(code => levels[code])).toEqual([LOUDEST, 16_764, 8316, 132, 0])
  expect([0x00, 0x0f, 0x6f].map(code => levels[code])).toEqual([-LOUDEST, -16_764, -132])
  expect([...toMuLaw(levels)]).toEqual([...CODES].map(code => (code === NEGATIVE_ZERO ? POSITIVE_ZERO : code)))
})

it('takes every sample to the nearest level', () => {
  const samples = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768)
  const heard = fromMuLaw(toMuLaw(samples))
  expect([heard[0], heard.at(-1)]).toEqual([-LOUDEST, LOUDEST])
  // Half a step: the 32nd part of a sample with the bias.
  const off = samples.findIndex((sample, i) => {
    const loudness = Math.abs(sample)
    return loudness <= LOUDEST && Math.abs(heard[i]! - sample) > (loudness + 132) / 32
  })
  expect(off).toBe(-1)
})
