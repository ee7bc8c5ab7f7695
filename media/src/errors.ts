import { type CodeOf, errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: API, logs and timelines show it. */
export const MediaError = errorsOf({
  address_in_use: { retryable: true, text: 'Another socket is bound to this UDP port.' },
  bind_failed: { retryable: false, text: 'The UDP port cannot be bound.' },
  digits_not_negotiated: { retryable: false, text: 'The peer did not negotiate telephone-event (RFC 4733).' },
  invalid_capacity: { retryable: false, text: 'A reorder buffer needs a power of two of slots.' },
  invalid_digit_timing: { retryable: false, text: 'A digit cannot have this duration or gap.' },
  invalid_digits: { retryable: false, text: 'A character is not a DTMF digit: use 0-9, *, #, A-D.' },
  invalid_noise_level: { retryable: false, text: 'The level of comfort noise is out of range.' },
  invalid_port_range: { retryable: false, text: 'The range of RTP ports cannot be used.' },
  invalid_ring: { retryable: false, text: 'A recording ring needs a power of two of bytes.' },
  invalid_wav: { retryable: false, text: 'The file is not a WAV file that can be read.' },
  media_closed: { retryable: false, text: 'The media plane is closed.' },
  media_thread_lost: { retryable: true, text: 'The media thread ended unexpectedly.' },
  native_packet_io_unavailable: { retryable: false, text: 'Native packet I/O cannot be loaded on this machine.' },
  no_rtp_port: { retryable: true, text: 'All RTP ports are taken.' },
  not_a_worker: { retryable: false, text: 'The module runs in a worker thread only.' },
  play_queue_full: { retryable: true, text: 'Too much audio waits to be played.' },
  recording_disk_full: { retryable: false, text: 'The disk of the recordings is full.' },
  recording_failed: { retryable: false, text: 'The recording cannot be written.' },
  recording_path_not_writable: { retryable: false, text: 'The path of the recording cannot be written.' },
  recording_writer_closed: { retryable: false, text: 'The recording writer is not running.' },
  recording_writer_lost: { retryable: true, text: 'The recording writer thread ended unexpectedly.' },
  sdp_invalid_value: { retryable: false, text: 'SDP cannot carry this value.' },
  srtp_key_invalid: { retryable: false, text: 'SRTP key and salt do not have the length that the suite needs.' },
  too_many_digits: { retryable: true, text: 'Too many digits wait to be sent.' },
  unknown_recording: { retryable: false, text: 'There is no recording with this id.' },
  unknown_session: { retryable: false, text: 'The session belongs to another media plane.' },
  unsupported_address: { retryable: false, text: 'Media cannot be sent to this address.' },
})

export type MediaErrorCode = CodeOf<typeof MediaError>
