import { writeFileSync } from 'node:fs'

/** Writes 8 kHz mono 16-bit PCM, as baresip's microphone takes it. */
export function writeMonoWav(path: string, samples: Int16Array): void {
  const header = Buffer.alloc(44)
  const dataBytes = 2 * samples.length
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(16_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  const data = Buffer.alloc(dataBytes)
  for (const [index, sample] of samples.entries()) data.writeInt16LE(sample, 2 * index)
  writeFileSync(path, Buffer.concat([header, data]))
}
