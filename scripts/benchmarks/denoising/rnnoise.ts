import { resample } from '../../../media/src/index.ts'

/** It has no types. */
const PACKAGE = '@echogarden/rnnoise-wasm'
const RATE_HZ = 48_000
const FLOAT_BYTES = 4

/** The exports of `@echogarden/rnnoise-wasm` that are used. */
interface RnnoiseModule {
  readonly HEAPF32: Float32Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _rnnoise_get_frame_size(): number
  _rnnoise_create(model: number): number
  _rnnoise_destroy(state: number): void
  _rnnoise_process_frame(state: number, out: number, input: number): number
}

/** RNNoise in WebAssembly. It hears 48 kHz in frames of 10 ms, so telephone audio is resampled before and after it. */
export class Rnnoise {
  readonly #module: RnnoiseModule

  private constructor(module: RnnoiseModule) {
    this.#module = module
  }

  static async load(): Promise<Rnnoise> {
    const loaded = (await import(PACKAGE)) as { readonly default: () => Promise<RnnoiseModule> }
    return new Rnnoise(await loaded.default())
  }

  /** Denoises 8 kHz audio from its beginning to its end; positions do not change. */
  denoise(audio: Int16Array): Int16Array {
    const module = this.#module
    const frame = module._rnnoise_get_frame_size()
    const state = module._rnnoise_create(0)
    const buffer = module._malloc(frame * FLOAT_BYTES)
    const wide = resample(audio, 8000, RATE_HZ)
    // The filter's output is one frame late.
    const clean = new Int16Array(wide.length)
    for (let at = 0; at < wide.length + frame; at += frame) {
      const heap = module.HEAPF32.subarray(buffer / FLOAT_BYTES, buffer / FLOAT_BYTES + frame)
      for (let i = 0; i < frame; i++) heap[i] = wide[at + i] ?? 0
      module._rnnoise_process_frame(state, buffer, buffer)
      for (let i = 0; i < frame; i++)
        if (at >= frame && at - frame + i < clean.length) clean[at - frame + i] = clip(heap[i]!)
    }
    module._free(buffer)
    module._rnnoise_destroy(state)
    return resample(clean, RATE_HZ, 8000)
  }
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
