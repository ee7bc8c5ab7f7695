import type { RtpTransform } from '../srtp/srtp-transform.ts'

/** One call in a media path, as its core sees it. */
export interface PathCall {
  /** SRTP of received packets; null: none. False: the path cannot use this transform. */
  openWith(transform: RtpTransform | null): boolean
  /** SRTP of sent packets. */
  sealWith(transform: RtpTransform | null): boolean
}
