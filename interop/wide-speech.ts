import { Resampler } from '@parley/media'
import { PhoneVoice } from '@parley/phone'
import { TonesVoice } from '@parley/providers'

/** What a caller says, at 8 kHz. */
export async function spokenNarrow(text: string): Promise<Int16Array> {
  const voice = new TonesVoice()
  const narrow = await new PhoneVoice(voice, 'en').render(text)
  await voice.close()
  return narrow
}

/** What a caller says, at 16 kHz. */
export async function spokenWide(text: string): Promise<Int16Array> {
  const narrow = await spokenNarrow(text)
  const wide = new Int16Array(2 * narrow.length + 1)
  const count = new Resampler(8000, 16_000, narrow.length).process(narrow, 0, narrow.length, wide, 0)
  return wide.subarray(0, count)
}

/** Root mean square, of full scale. */
export function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / Math.max(1, samples.length))
}
