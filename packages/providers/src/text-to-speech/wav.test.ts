import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWav } from './wav.ts'

function chunk(id: string, content: Uint8Array, size = content.length): Buffer {
  const header = Buffer.alloc(8)
  header.write(id, 'latin1')
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)])
}

function format(values: { format?: number; channels?: number; rate?: number; bits?: number } = {}): Buffer {
  const content = Buffer.alloc(16)
  content.writeUInt16LE(values.format ?? 1, 0)
  content.writeUInt16LE(values.channels ?? 1, 2)
  content.writeUInt32LE(values.rate ?? 16_000, 4)
  content.writeUInt16LE(values.bits ?? 16, 14)
  return chunk('fmt ', content)
}

function riff(...chunks: Buffer[]): Buffer {
  return Buffer.concat([chunk('RIFF', Buffer.from('WAVE')), ...chunks])
}

const PCM = Buffer.from([1, 0, 0xff, 0xff, 0, 0x80])
const SAMPLES = Int16Array.of(1, -1, -32_768)

describe('a WAV file', () => {
  it.each([
    ['plain', riff(format(), chunk('data', PCM))],
    [
      'with other chunks, one of odd length',
      riff(chunk('LIST', Buffer.from('abc')), format(), chunk('data', PCM), chunk('id3 ', PCM)),
    ],
    ['streamed, with a length that nobody knew', riff(format(), chunk('data', PCM, 0x7fff_f000))],
    ['cut off within a sample', riff(format(), chunk('data', Buffer.concat([PCM, Buffer.of(7)]), 8))],
  ])('%s is read', (_name, bytes) => {
    const reading = readWav(bytes)
    if (!reading.ok) throw new Error(reading.detail)
    expect(reading.sampleRateHz).toBe(16_000)
    expect(reading.samples.slice(0, 3)).toEqual(SAMPLES)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['another kind of file', Buffer.from('RIFX....WAVE')],
    ['stereo', riff(format({ channels: 2 }), chunk('data', PCM))],
    ['mu-law', riff(format({ format: 7, bits: 8 }), chunk('data', PCM))],
    ['a rate of 0', riff(format({ rate: 0 }), chunk('data', PCM))],
    ['data before its format', riff(chunk('data', PCM), format())],
    ['no data', riff(format())],
    ['a short format', riff(chunk('fmt ', Buffer.alloc(4)), chunk('data', PCM))],
  ])('%s is refused', (_name, bytes) => {
    expect(readWav(bytes)).toMatchObject({ ok: false })
  })

  it('is read or refused, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.uint8Array({ maxLength: 60 }).map(tail => riff(format(), Buffer.from(tail))),
    )
    fc.assert(
      fc.property(bytes, input => {
        const reading = readWav(input)
        if (reading.ok) expect(reading.samples.length * 2).toBeLessThanOrEqual(input.length)
      }),
    )
  })
})
