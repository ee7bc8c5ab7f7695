import type { Ms, RtpTicks, Samples, Seq16 } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { wordsClass } from '../page/words.ts'
import { ExtendedSequence, SEQUENCE_BAD, SEQUENCE_RESTARTED } from '../rtp/sequence.ts'

/** 1: mu-law, 2: A-law, 0: another codec. */
export type G711Law = 0 | 1 | 2

/** Turns the payloads of one codec into audio. A codec may keep state from packet to packet, so their order matters. */
export interface PayloadDecoder {
  /** Audio of the payload that was decoded last. */
  readonly samples: Int16Array
  /** RTP clock rate of the codec, Hz. */
  readonly clockRate: number
  /** Which G.711 it decodes, at the rate of the stream; default 0: another codec. */
  readonly law?: G711Law
  /** Decodes `length` bytes to `samples`; returns how many samples. */
  decode(payload: Uint8Array, offset: number, length: number): Samples
  /**
   * Decodes the lost packet before this payload to `samples`, from the redundancy in this payload, which is decoded afterwards;
   * returns how many samples, 0 without redundancy.
   */
  recover?(payload: Uint8Array, offset: number, length: number): Samples
  /** The next payload is the first of another source. */
  restart(): void
}

interface ReorderBufferOptions {
  /** Longest that a packet waits for those missing before it, ms; default 40. */
  readonly holdMs?: Ms
  /** Packets held at most, a power of two; default 32. */
  readonly capacity?: number
  /** Longest payload, bytes; default `MAX_PAYLOAD_BYTES`. */
  readonly payloadBytes?: number
  readonly memory?: ReorderMemory | undefined
}

/** `next`: extended sequence number of the packet that leaves next. */
export const ReorderWords = wordsClass('next', 'waiting', 'restarted')

/** Where a buffer keeps its state; default memory of its own. */
export interface ReorderMemory {
  readonly state: Float64Array
  readonly sequence: Float64Array
  /** As long as the capacity. */
  readonly seen: Float64Array
}

/** Longest packet that is received. */
export const MAX_PACKET_MS: Ms = 120
/** Payload of the longest packet: 64 kbit/s is the bit rate of G.711 and G.722, and Opus speech has less. */
export const MAX_PAYLOAD_BYTES = MAX_PACKET_MS * 8

/** Packets that a buffer holds unless its options say otherwise. */
export const REORDER_SLOTS = 32

const NOTHING = -1
const NO_PAYLOAD = new Uint8Array(0)

/**
 * Puts one source's packets back into the order of their sequence numbers. Payloads stay encoded until they leave, so
 * that a decoder with state sees them in order and without late ones. A packet that is next leaves at once; one
 * behind a gap waits for the missing ones, at most `holdMs`. Slots are keyed by extended sequence number; memory is
 * allocated for as many payloads as were ever held at once, and as long. A new SSRC, or a sequence that restarted (RFC 3550 A.1), begins
 * anew and drops what is held.
 */
export class ReorderBuffer {
  /** Packets that arrived after their place was given up. */
  late = 0
  duplicate = 0
  /** Packets that were given up; a late arrival does not reduce the count. */
  lost = 0
  /** Packets longer than a slot, or alone after a jump in the sequence. */
  refused = 0

  /** Payload of the packet that `ready` or `reach` loaded; valid until `release`. */
  payload: Uint8Array = NO_PAYLOAD
  /** Bytes of `payload`. */
  length = 0
  /** Decodes `payload`; null: a packet without audio. */
  decoder: PayloadDecoder | null = null
  timestamp: RtpTicks = 0
  arrivedAt: Ms = 0
  /** Packets missing between the one released before and this one. */
  missing = 0
  /** Whether the loaded packet is the first of its source. */
  restarted = false

  #holdMs: Ms
  readonly #mask: number
  readonly #payloadBytes: number
  /** The payload in each slot; null where none is held. */
  readonly #slots: (Uint8Array | null)[]
  /** Memory of payloads that are not held. */
  readonly #free: Uint8Array[] = []
  readonly #length: Uint16Array
  readonly #decoders: (PayloadDecoder | null)[]
  readonly #timestamp: Uint32Array
  readonly #arrivedAt: Float64Array
  /** Extended sequence number held in each slot, or NOTHING. */
  readonly #held: Float64Array
  /** Extended sequence numbers received lately, to tell a duplicate from a late packet. */
  readonly #seen: Float64Array
  readonly #sequence: ExtendedSequence
  readonly #state: InstanceType<typeof ReorderWords>
  #ssrc = NOTHING

  constructor(options: ReorderBufferOptions = {}) {
    const capacity = options.capacity ?? REORDER_SLOTS
    if (capacity < 2 || (capacity & (capacity - 1)) !== 0)
      throw new MediaError('invalid_capacity', `A reorder buffer of ${capacity} slots is not a power of two.`)
    this.#holdMs = options.holdMs ?? 40
    this.#mask = capacity - 1
    this.#payloadBytes = options.payloadBytes ?? MAX_PAYLOAD_BYTES
    this.#slots = new Array<Uint8Array | null>(capacity).fill(null)
    this.#length = new Uint16Array(capacity)
    this.#decoders = new Array<PayloadDecoder | null>(capacity).fill(null)
    this.#timestamp = new Uint32Array(capacity)
    this.#arrivedAt = new Float64Array(capacity)
    this.#held = new Float64Array(capacity).fill(NOTHING)
    this.#seen = (options.memory?.seen ?? new Float64Array(capacity)).fill(NOTHING)
    this.#sequence = new ExtendedSequence(0, options.memory?.sequence)
    this.#state = new ReorderWords(options.memory?.state)
  }

  /** Packets held. */
  get waiting(): number {
    return this.#state.waiting
  }

  /** Changes the longest wait of a packet for those missing before it. */
  waitFor(holdMs: Ms): void {
    this.#holdMs = holdMs
  }

  /**
   * Takes one packet: copies `length` bytes of `packet`, which `decoder` decodes later (null: no audio). False when it was
   * late, a duplicate or refused.
   */
  push(
    ssrc: number,
    sequence: Seq16,
    timestamp: RtpTicks,
    decoder: PayloadDecoder | null,
    packet: Uint8Array,
    offset: number,
    length: number,
    nowMs: Ms,
  ): boolean {
    if (length > this.#payloadBytes || offset < 0 || offset + length > packet.length) {
      this.refused++
      return false
    }
    if (ssrc !== this.#ssrc) {
      this.#ssrc = ssrc
      this.#sequence.reset()
    }
    const verdict = this.#sequence.update(sequence)
    if (verdict === SEQUENCE_BAD) {
      this.refused++
      return false
    }
    if (verdict === SEQUENCE_RESTARTED) this.#restart(this.#sequence.extend(sequence))
    const extended = this.#sequence.extend(sequence)
    const slot = extended & this.#mask
    if (extended < this.#state.next || this.#held[slot] === extended) {
      if (this.#seen[slot] === extended) this.duplicate++
      else this.late++
      return false
    }
    if (extended > this.#state.next + this.#mask) this.#makeRoom(extended)
    const to = this.#memoryFor(length)
    this.#slots[slot] = to
    for (let i = 0; i < length; i++) to[i] = packet[offset + i]!
    this.#length[slot] = length
    this.#decoders[slot] = decoder
    this.#timestamp[slot] = timestamp
    this.#arrivedAt[slot] = nowMs
    this.#held[slot] = extended
    this.#seen[slot] = extended
    this.#state.waiting++
    return true
  }

  /** Whether a packet may leave at `nowMs`: the next in order, or the first behind a gap that was waited for long enough. */
  ready(nowMs: Ms): boolean {
    if (this.#state.waiting === 0) return false
    if (this.#held[this.#state.next & this.#mask] === this.#state.next) return this.#load(this.#state.next)
    const first = this.#firstHeld()
    for (let i = 0; i <= this.#mask; i++)
      if (this.#held[i] !== NOTHING && nowMs - this.#arrivedAt[i]! >= this.#holdMs) return this.#load(first)
    return false
  }

  /** Loads the first held packet, whether or not it may leave yet; false when nothing is held. */
  reach(): boolean {
    return this.#state.waiting > 0 && this.#load(this.#firstHeld())
  }

  /** Frees the slot of the loaded packet and counts the packets missing before it as lost. */
  release(): void {
    const released = this.#state.next + this.missing
    this.#drop(released & this.#mask)
    this.lost += this.missing
    this.#state.next = released + 1
    this.missing = 0
    this.#state.restarted = 0
  }

  #load(extended: number): true {
    const slot = extended & this.#mask
    this.payload = this.#slots[slot]!
    this.length = this.#length[slot]!
    this.decoder = this.#decoders[slot]!
    this.timestamp = this.#timestamp[slot]!
    this.arrivedAt = this.#arrivedAt[slot]!
    this.missing = extended - this.#state.next
    this.restarted = this.#state.restarted !== 0
    return true
  }

  /** Memory of a payload that was released, or new one where that is too short: most calls' packets are of one length. */
  #memoryFor(length: number): Uint8Array {
    const free = this.#free.pop()
    return free !== undefined && free.length >= length ? free : new Uint8Array(length)
  }

  #firstHeld(): number {
    let first = this.#state.next
    while (this.#held[first & this.#mask] !== first) first++
    return first
  }

  #restart(extended: number): void {
    for (let i = 0; i <= this.#mask; i++) if (this.#held[i] !== NOTHING) this.#drop(i)
    this.#seen.fill(NOTHING)
    this.#state.next = extended
    this.#state.restarted = 1
  }

  /** Frees a slot that holds a packet. */
  #drop(slot: number): void {
    this.#free.push(this.#slots[slot]!)
    this.#slots[slot] = null
    this.#held[slot] = NOTHING
    this.#state.waiting--
  }

  /** More packets are missing than there are slots: gives up the oldest. */
  #makeRoom(extended: number): void {
    const next = extended - this.#mask
    for (let i = 0; i <= this.#mask; i++) if (this.#held[i] !== NOTHING && this.#held[i]! < next) this.#drop(i)
    this.lost += next - this.#state.next
    this.#state.next = next
  }
}
