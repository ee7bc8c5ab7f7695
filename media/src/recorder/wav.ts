/** Header of a two-channel 8 kHz mu-law WAV (format 7, with a fact chunk). */
export declare const WAV_HEADER_BYTES: number
export declare function writeWavHeader(dst: Uint8Array, frames: number): number
