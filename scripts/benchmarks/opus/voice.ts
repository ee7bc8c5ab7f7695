/** A sentence and the pause after it. */
const TURN_S = 4
const SPEECH_S = 2.4
/** The glottal pulse loses 6 dB per octave; above this nothing is left. */
const TOP_HZ = 12_000
const AMPLITUDE = 4000

/** A voice-like sound of any rate: harmonics of a pitch that falls within each sentence, syllables, digital silence between sentences. */
export function voiceWithPauses(samples: number, sampleRateHz: number): Int16Array {
  const top = Math.min(TOP_HZ, sampleRateHz / 2)
  const audio = new Int16Array(samples)
  let phase = 0
  for (let i = 0; i < samples; i++) {
    const inTurn = (i / sampleRateHz) % TURN_S
    if (inTurn >= SPEECH_S) continue
    const pitchHz = 180 - 30 * (inTurn / SPEECH_S)
    phase += (2 * Math.PI * pitchHz) / sampleRateHz
    const syllable = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * inTurn)
    let sum = 0
    for (let k = 1; k * pitchHz < top; k++) sum += Math.sin(k * phase) / k
    audio[i] = AMPLITUDE * syllable * sum
  }
  return audio
}
