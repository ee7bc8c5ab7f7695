import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Ms } from '@parley/kernel'

/** A field of a message in the wire format of Protocol Buffers: a varint is a number, all other types are their bytes. */
interface ProtobufField {
  readonly number: number
  readonly value: number | Uint8Array
}

/** Fields read of one message; a service that sends more is not understood. */
const MAX_FIELDS = 10_000

/** `value`: a non-negative integer, or a boolean. */
export function varintField(number: number, value: number | boolean): Uint8Array {
  return new BinaryWriter().tag(number, WireType.Varint).uint32(Number(value)).finish()
}

/** A text, bytes, or a message that was encoded before. */
export function bytesField(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish()
}

/** The fields of a message in their order; null: the bytes are no message. Groups (wire types 3 and 4) are not read. */
export function protobufFields(bytes: Uint8Array): readonly ProtobufField[] | null {
  const fields: ProtobufField[] = []
  const reader = new BinaryReader(bytes)
  try {
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag()
      const value = fieldValue(reader, wireType)
      if (value === null || fields.length >= MAX_FIELDS) return null
      fields.push({ number, value })
    }
  } catch {
    return null
  }
  return fields
}

function fieldValue(reader: BinaryReader, wireType: WireType): number | Uint8Array | null {
  if (wireType === WireType.Varint) return Number(reader.int64())
  if (wireType === WireType.LengthDelimited) return reader.bytes()
  if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) return null
  return reader.skip(wireType)
}

/** The last value of a field with this number that is a number; 0 when there is none, as in proto3. */
export function numberField(fields: readonly ProtobufField[], number: number): number {
  const value = fields.findLast(field => field.number === number)?.value
  return typeof value === 'number' ? value : 0
}

/** The values of all fields with this number that have bytes. */
export function bytesFields(fields: readonly ProtobufField[], number: number): readonly Uint8Array[] {
  return fields.flatMap(field => (field.number === number && typeof field.value !== 'number' ? [field.value] : []))
}

/** The last message in the field; no fields when it is missing or malformed. */
export function messageField(fields: readonly ProtobufField[], number: number): readonly ProtobufField[] {
  const bytes = bytesFields(fields, number).at(-1)
  return bytes === undefined ? [] : (protobufFields(bytes) ?? [])
}

export function textField(fields: readonly ProtobufField[], number: number): string {
  return Buffer.from(bytesFields(fields, number).at(-1) ?? []).toString('utf8')
}

/** A `float`; null when it is missing. */
export function floatField(fields: readonly ProtobufField[], number: number): number | null {
  const bytes = bytesFields(fields, number).at(-1)
  return bytes?.length === 4 ? Buffer.from(bytes).readFloatLE(0) : null
}

/** A `google.protobuf.Duration`; null when it is missing. */
export function durationField(fields: readonly ProtobufField[], number: number): Ms | null {
  if (bytesFields(fields, number).length === 0) return null
  const duration = messageField(fields, number)
  return numberField(duration, 1) * 1000 + numberField(duration, 2) / 1_000_000
}
