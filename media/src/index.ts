export type { AudioCodec } from './codec/audio-codec.ts'
export { CODEC_NAMES, type CodecName, codecByName, DEFAULT_CODECS, formatFor, isCodecName } from './codec/codecs.ts'
export { decodePcma, decodePcmu, encodePcma, encodePcmu } from './codec/g711.ts'
export { ComfortNoise, type ComfortNoiseOptions } from './dsp/comfort-noise.ts'
export { Concealment } from './dsp/concealment.ts'
export { FormatBorder } from './dsp/format-border.ts'
export { LowPassFilter } from './dsp/low-pass-filter.ts'
export { ReceiveStream, type ReceiveStreamOptions } from './dsp/receive-stream.ts'
export { ReorderBuffer, type ReorderBufferOptions } from './dsp/reorder-buffer.ts'
export { resample } from './dsp/resample.ts'
export { Resampler } from './dsp/resampler.ts'
export { ResamplingStream } from './dsp/resampling-stream.ts'
export { VoiceActivity, type VoiceActivityOptions } from './dsp/voice-activity.ts'
export { lowPass } from './dsp/windowed-sinc.ts'
export {
  digitOfEvent,
  eventOfDigit,
  readTelephoneEvent,
  TELEPHONE_EVENT_BYTES,
  type TelephoneEventReport,
  writeTelephoneEvent,
} from './dtmf/telephone-event.ts'
export { TelephoneEventReceiver } from './dtmf/telephone-event-receiver.ts'
export { TelephoneEventSender } from './dtmf/telephone-event-sender.ts'
export { choosePacketIo, type PacketIoKind } from './io/choose-packet-io.ts'
export { loadNativeAddon, NativePacketIo } from './io/native-packet-io.ts'
export { PortablePacketIo } from './io/portable-packet-io.ts'
export { joinSegments } from './io/recording-segments.ts'
export {
  type FinishedRecording,
  type RecordingFailure,
  RecordingWriter,
} from './io/recording-writer.ts'
export type { LatenessSummary, ThreadStatistics } from './io/thread-protocol.ts'
export { ThreadedMediaPlane, type ThreadedMediaPlaneOptions } from './io/threaded-media-plane.ts'
export { formatIpv4, parseIpv4 } from './packet-io/ipv4.ts'
export {
  PACKET_SLOT_BYTES,
  type PacketAddress,
  PacketBatch,
  type PacketIo,
  type PacketIoCounters,
} from './packet-io/packet-io.ts'
export { PortPool, type PortPoolOptions } from './ports/port-pool.ts'
export { allocateRecordingRing, RecordingRing } from './recorder/recording-ring.ts'
export { type FoundSegment, type JoinPlan, planJoin, SEGMENT_FRAMES, segmentPath } from './recorder/segments.ts'
export { WAV_HEADER_BYTES, writeWavHeader } from './recorder/wav.ts'
export { framesIn, readWavLayout, type WavLayout, wavHeader } from './recorder/wav-layout.ts'
export { readWav, type WavAudio } from './recorder/wav-reader.ts'
export { ReceptionStatistics } from './rtp/reception-statistics.ts'
export {
  isRtcpCompound,
  ntpMiddle,
  ReportBlock,
  RtcpCompound,
  readRtcp,
  roundTripMs,
  toReportDelay,
  writeBye,
  writeReceiverReport,
  writeSdesCname,
  writeSenderReport,
} from './rtp/rtcp.ts'
export { RtcpScheduler } from './rtp/rtcp-scheduler.ts'
export { isRtcp, RTP_HEADER_BYTES, RtpHeader, readRtpHeader, writeRtpHeader } from './rtp/rtp-packet.ts'
export {
  ExtendedSequence,
  SEQUENCE_BAD,
  SEQUENCE_PROBATION,
  SEQUENCE_RESTARTED,
  SEQUENCE_VALID,
  type SequenceVerdict,
  seqDelta,
  ticksDelta,
} from './rtp/sequence.ts'
export type { LocalDescriptionState, LocalMedia } from './sdp/local-media.ts'
export { type ExtractedSdp, extractSdp } from './sdp/multipart.ts'
export {
  type AcceptedAnswer,
  acceptAnswer,
  type CreatedOffer,
  createOffer,
  type PendingOffer,
  type PlannedAnswer,
  planAnswer,
  refuseOffer,
  withdrawOffer,
} from './sdp/offer-answer.ts'
export { parseSdp, type SdpParseResult } from './sdp/parse.ts'
export type { SdpErrorCode } from './sdp/sdp-syntax.ts'
export { serialiseSdp } from './sdp/serialise.ts'
export type { CryptoAttribute, MediaDescription, SdpCodec, SessionDescription } from './sdp/session-description.ts'
export { InlineMediaPlane, type InlineMediaPlaneOptions } from './session/inline-media-plane.ts'
export type {
  DigitSource,
  InBandDigits,
  MediaDirection,
  MediaEvent,
  MediaParameters,
  MediaPlane,
  MediaReport,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSegments,
  SrtpKey,
  SrtpParameters,
  SrtpSuite,
  VoiceDetection,
  VoiceEdge,
} from './session/media-session.ts'
export { MediaSessionCore, type MediaSessionCoreOptions } from './session/media-session-core.ts'
export {
  type NetworkConditions,
  VirtualPacketNetwork,
  type VirtualSocket,
} from './session/virtual-packet-network.ts'
export { SrtpReceiver } from './srtp/srtp-receiver.ts'
export {
  SRTP_CLEAR_RTCP,
  SRTP_KEY_EXHAUSTED,
  SRTP_MALFORMED,
  SRTP_REPLAYED,
  SRTP_TOO_MANY_STREAMS,
  SRTP_UNAUTHENTICATED,
} from './srtp/srtp-result.ts'
export { SrtpSender } from './srtp/srtp-sender.ts'
