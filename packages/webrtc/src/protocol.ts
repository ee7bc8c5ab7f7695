/** A TURN or STUN server, as in `RTCIceServer`. */
export interface IceServer {
  readonly url: string
  readonly username?: string
  readonly credential?: string
}

/** How peer connections are opened; the same for all of a process. */
export interface PeerOptions {
  /** Address of the sockets towards browsers; null: all of the machine. */
  readonly bindAddress: string | null
  /** UDP ports of these sockets; null: any free ones. */
  readonly ports: { readonly from: number; readonly to: number } | null
  /** Address in our host candidates instead of the bound one, such as the outer address of a 1:1 NAT; null: the bound one. */
  readonly announcedAddress: string | null
  readonly iceServers: readonly IceServer[]
  /** Whether media goes through a TURN server only. */
  readonly relayOnly: boolean
}

/** The audio of an offer that is answered. */
export interface OfferedAudio {
  /** `a=mid` of its media line. */
  readonly mid: string
  /** Payload type of opus/48000/2. */
  readonly payloadType: number
  /** Format parameters of Opus in the offer; null: none. */
  readonly fmtp: string | null
  /** Whether the browser only receives audio; default false. */
  readonly receivesOnly?: boolean
}

/** Messages to the process that has the peer connections; `id` names a connection. */
export type PeerCommand =
  | {
      readonly type: 'connect'
      readonly id: string
      readonly offer: string
      readonly audio: OfferedAudio
      /** Where RTP of the browser is sent in clear: the media session of the call. */
      readonly media: { readonly address: string; readonly port: number }
      readonly options: PeerOptions
    }
  | { readonly type: 'candidate'; readonly id: string; readonly candidate: string; readonly mid: string }
  | { readonly type: 'send'; readonly id: string; readonly text: string }
  | { readonly type: 'close'; readonly id: string }

/** Messages from that process. */
export type PeerReport =
  /** `port`: the loopback port from which the browser's RTP comes and to which ours goes. */
  | { readonly type: 'answer'; readonly id: string; readonly sdp: string; readonly port: number }
  | { readonly type: 'refused'; readonly id: string; readonly detail: string }
  /** State of ICE and DTLS, as in `RTCPeerConnection.connectionState`. */
  | { readonly type: 'state'; readonly id: string; readonly state: string }
  /** The page opened its data channel. */
  | { readonly type: 'channel'; readonly id: string }
  | { readonly type: 'message'; readonly id: string; readonly text: string }
