# A phone of PJSIP (pjsua2): one call, whose settings are environment variables; see run.sh.
# Prints one line for each event: "call CONFIRMED", "digit 5", "media active", "end 200 Normal call clearing".
import os
import sys
import time

import pjsua2 as pj

env = os.environ.get
ROLE = env("ROLE", "caller")
PORT = int(env("PORT", "5089"))
CALL_SECONDS = float(env("CALL_SECONDS", "10"))
SECURE = env("SRTP", "mandatory") == "mandatory"
CLOCK_RATE = 16000 if env("CODECS", "PCMU").startswith("G722") else 8000


def say(text):
    print(text, flush=True)


class PhoneCall(pj.Call):
    def __init__(self, account, call_id=pj.PJSUA_INVALID_ID):
        pj.Call.__init__(self, account, call_id)
        self.established_at = None
        self.ended = False
        self.player = None
        self.recorder = None

    def onCallState(self, prm):
        info = self.getInfo()
        say(f"call {info.stateText}")
        if info.state == pj.PJSIP_INV_STATE_CONFIRMED:
            self.established_at = time.monotonic()
        if info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            say(f"end {info.lastStatusCode} {info.lastReason}")
            self.ended = True

    def onCallMediaState(self, prm):
        # The media of a call belong to its information, which must outlive the loop.
        info = self.getInfo()
        for index, media in enumerate(info.media):
            if media.type != pj.PJMEDIA_TYPE_AUDIO or media.status != pj.PJSUA_CALL_MEDIA_ACTIVE:
                continue
            audio = self.getAudioMedia(index)
            if self.player is None:
                self.player = pj.AudioMediaPlayer()
                self.player.createPlayer(env("WAV_IN"), pj.PJMEDIA_FILE_NO_LOOP)
                self.recorder = pj.AudioMediaRecorder()
                self.recorder.createRecorder(env("WAV_OUT"))
            self.player.startTransmit(audio)
            audio.startTransmit(self.recorder)
            stream = self.getStreamInfo(index)
            say(f"codec {stream.codecName}/{stream.codecClockRate}")

    def onDtmfDigit(self, prm):
        say(f"digit {prm.digit}")

    def act(self, command):
        name, _, argument = command.partition(" ")
        say(f"action {command}")
        prm = pj.CallOpParam(True)
        if name == "digits":
            self.dialDtmf(argument)
        elif name == "info":
            dtmf = pj.CallSendDtmfParam()
            dtmf.method = pj.PJSUA_DTMF_METHOD_SIP_INFO
            dtmf.digits = argument
            self.sendDtmf(dtmf)
        elif name == "hold":
            self.setHold(prm)
        elif name == "resume":
            prm.opt.flag = pj.PJSUA_CALL_UNHOLD
            self.reinvite(prm)
        elif name == "reinvite":
            self.reinvite(prm)
        elif name == "update":
            self.update(prm)
        else:
            raise ValueError(f"unknown action: {command}")


class PhoneAccount(pj.Account):
    call = None
    answer_at = None

    def onIncomingCall(self, prm):
        say("incoming")
        self.call = PhoneCall(self, prm.callId)
        ringing = pj.CallOpParam()
        ringing.statusCode = 180
        self.call.answer(ringing)
        self.answer_at = time.monotonic() + float(env("RING_SECONDS", "0"))


def start():
    endpoint = pj.Endpoint()
    endpoint.libCreate()
    config = pj.EpConfig()
    config.uaConfig.threadCnt = 0
    config.uaConfig.mainThreadOnly = True
    config.uaConfig.userAgent = "PJSIP"
    config.medConfig.clockRate = CLOCK_RATE
    config.medConfig.noVad = True
    config.medConfig.ecTailLen = 0
    config.logConfig.level = 5
    config.logConfig.consoleLevel = 1
    config.logConfig.msgLogging = 1
    config.logConfig.filename = env("LOG")
    endpoint.libInit(config)
    endpoint.audDevManager().setNullDev()
    transport = pj.TransportConfig()
    transport.port = PORT
    transport.boundAddress = "127.0.0.1"
    transport.publicAddress = "127.0.0.1"
    certificates = env("CERT_DIR")
    transport.tlsConfig.CaListFile = f"{certificates}/ca.pem"
    transport.tlsConfig.certFile = f"{certificates}/baresip.crt"
    transport.tlsConfig.privKeyFile = f"{certificates}/baresip.key"
    transport.tlsConfig.verifyServer = True
    kind = pj.PJSIP_TRANSPORT_TLS if SECURE else pj.PJSIP_TRANSPORT_UDP
    transport_id = endpoint.transportCreate(kind, transport)
    endpoint.libStart()
    wanted = env("CODECS", "PCMU").split(",")
    for codec in endpoint.codecEnum2():
        name = codec.codecId.split("/")[0]
        endpoint.codecSetPriority(codec.codecId, 255 - wanted.index(name) if name in wanted else 0)
    return endpoint, transport_id


def open_account(transport_id):
    config = pj.AccountConfig()
    suffix = ";transport=tls" if SECURE else ""
    config.idUri = f"sip:pjsip@127.0.0.1:{PORT}{suffix}"
    config.sipConfig.transportId = transport_id
    config.mediaConfig.srtpUse = pj.PJMEDIA_SRTP_MANDATORY if SECURE else pj.PJMEDIA_SRTP_DISABLED
    config.mediaConfig.srtpSecureSignaling = 1 if SECURE else 0
    config.mediaConfig.transportConfig.port = int(env("RTP_PORT", "24000"))
    config.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
    config.mediaConfig.transportConfig.publicAddress = "127.0.0.1"
    config.callConfig.prackUse = pj.PJSUA_100REL_MANDATORY if env("PRACK") else pj.PJSUA_100REL_OPTIONAL
    config.callConfig.timerUse = pj.PJSUA_SIP_TIMER_ALWAYS if env("TIMER") else pj.PJSUA_SIP_TIMER_OPTIONAL
    account = PhoneAccount()
    account.create(config)
    return account


def main():
    endpoint, transport_id = start()
    account = open_account(transport_id)
    if ROLE == "caller":
        account.call = PhoneCall(account)
        account.call.makeCall(env("TARGET_URI"), pj.CallOpParam(True))
    say("ready")
    actions = [(float(at), command) for at, _, command in (each.partition(":") for each in env("ACTIONS", "").split("|") if each)]
    deadline = time.monotonic() + float(env("WAIT_SECONDS", "30"))
    hung_up = False
    while True:
        endpoint.libHandleEvents(20)
        now, call = time.monotonic(), account.call
        if call is not None and call.ended:
            break
        if account.answer_at is not None and now >= account.answer_at:
            account.answer_at = None
            answer = pj.CallOpParam()
            answer.statusCode = int(env("ANSWER_STATUS", "200"))
            call.answer(answer)
        if call is None or call.established_at is None:
            if now > deadline:
                break
            continue
        while actions and now - call.established_at >= actions[0][0]:
            call.act(actions.pop(0)[1])
        if not hung_up and now - call.established_at >= CALL_SECONDS:
            hung_up = True
            call.hangup(pj.CallOpParam(True))
    established = account.call is not None and account.call.established_at is not None
    # The recording is complete when its writer is gone.
    if account.call is not None:
        account.call.recorder = None
        account.call.player = None
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        endpoint.libHandleEvents(20)
    say("OK: established" if established else "FAIL: not established")
    # PJSIP's own shutdown waits for its transactions.
    os._exit(0 if established else 1)


try:
    main()
except pj.Error as error:
    print(f"FAIL: {error.info()}", file=sys.stderr, flush=True)
    os._exit(2)
