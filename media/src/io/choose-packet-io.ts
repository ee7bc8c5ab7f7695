import { MediaError } from '../errors.ts'
import type { PacketIo } from '../packet-io/packet-io.ts'
import { type MediaPath, PortableMediaPath } from '../session/media-path.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import { portableTransforms } from '../srtp/transform-for-key.ts'
import { NativeMediaPath } from './native-media-path.ts'
import { loadNativeAddon, NativePacketIo } from './native-packet-io.ts'
import { nativeTransforms } from './native-srtp.ts'
import { NativeTurns } from './native-turns.ts'
import { PortablePacketIo } from './portable-packet-io.ts'

export type PacketIoKind = PacketIo['kind']

/**
 * The packet I/O to use: the requested kind, or else native where it is built and portable elsewhere. Throws `MediaError`
 * "native_packet_io_unavailable" when native is requested and cannot be loaded.
 */
export function choosePacketIo(wanted: PacketIoKind | undefined, addon = loadNativeAddon()): PacketIoKind {
  if (wanted === 'portable') return wanted
  if (typeof addon !== 'string') return 'native'
  if (wanted === 'native') throw new MediaError('native_packet_io_unavailable', addon)
  return 'portable'
}

export function makePacketIo(kind: PacketIoKind): PacketIo {
  return kind === 'native' ? new NativePacketIo() : new PortablePacketIo()
}

/** The media path for a thread with that packet I/O. */
export function makeMediaPath(kind: PacketIoKind): MediaPath {
  const addon = kind === 'native' ? loadNativeAddon() : null
  return addon === null || typeof addon === 'string' ? new PortableMediaPath() : new NativeMediaPath(addon)
}

/** Wakes in C++, where both are native; null: the thread's loop wakes. */
export function makeTurns(io: PacketIo, path: MediaPath): NativeTurns | null {
  return io instanceof NativePacketIo && path instanceof NativeMediaPath ? new NativeTurns(path, io) : null
}

/** Transforms of SRTP for a thread with that packet I/O. */
export function makeTransforms(kind: PacketIoKind): SrtpTransforms {
  const addon = kind === 'native' ? loadNativeAddon() : null
  return addon === null || typeof addon === 'string' ? portableTransforms : nativeTransforms(addon)
}
