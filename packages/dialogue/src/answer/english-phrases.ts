import type { AnswerPhrases } from './answer-phrases.ts'

export const ENGLISH_ANSWERS: AnswerPhrases = {
  language: 'en',
  digits: 'zero one two three four five six seven eight nine ten pound star',
  human: `
    1.2 how can/may/could i help
    1.2 how can/may we help
    1.2 what can i do for you
    1.0 how may/can i direct
    1.0 who is this
    1.0 who's this
    0.6 who is calling
    0.6 who's calling
    1.0 can you hear me
    1.0 are you there
    0.9 how are you
    0.5 front desk
    0.3 this is
    0.3 my name is
    0.8 is anyone/anybody/someone there
    0.7 ^ hello hello
    0.1 ^ hello
    0.1 ^ hi
    0.1 ^ hey
    0.5 ^ yes
    0.5 ^ yeah
    0.7 hold/hang on (a) second/sec/moment/minute
    0.6 what do you want
    0.6 i'm driving
    0.6 i am driving
    0.6 i'm in a meeting
    0.6 i am in a meeting
    0.2 good morning
    0.2 good afternoon
    0.2 good evening
    0.5 what's up
    0.5 this is he/she
    0.5 talking to
    0.5 go ahead
    0.9 speaking $
    0.5 speaking with
    1.0 ^ no he/she/i/it/we/they/sorry/thanks/you/this/that/my/is/not/sir/madam
    1.2 take a message
    0.9 what is it about
    0.9 what's it about
    0.6 what is this about
    0.6 what's this about
    1.1 wrong number
    1.0 who are you
    1.0 who am i
    0.9 am i speaking/talking
    0.9 who would you like
    0.8 what is your name
    0.8 what's your name
    0.9 ^ is this/that/he/she/it
    0.9 is that you
    0.8 is this a
    0.9 ^ are/do you
    0.7 are you calling about
    0.9 ^ what/who/which/where
    0.9 number did you
    0.9 i don't/didn't/do know/want/think
    0.9 not interested
    0.9 stop calling
    0.9 ^ don't/please don't/stop call/calling/phone
    0.9 me off
    0.9 call me/you again
    0.7 call me/you back (later) (in)
    0.8 ^ sorry i can't/cannot talk/speak
    0.8 ^ sorry what/who/which/wrong/say
    0.8 can/could you hear/hold/call/speak/wait/make/repeat/ring
    0.8 can/could/may i help/call/ask/take/get
    0.8 ^ can/could you/i
    0.9 hold for (just) (a) second/sec/moment/minute
    0.7 one second/sec/moment/minute
    0.7 let me
    0.7 my daughter/son/wife/husband/mother/father/mom/dad/boss
    0.7 he's/she's/he/she isn't/not/is/in/has/just/will
    0.8 waiting for your
    0.8 can't/cannot/barely hear
    0.7 i'm at work/home/just
    0.7 i am at work/home/just
    0.6 i was
    0.6 your call earlier
    0.9 you're on speaker
    0.8 here how/what/who
    0.6 here $
    0.6 ^ all right
    0.6 ^ yep/yup/ok/okay
    0.6 ^ no
    0.5 him/her what
    0.6 make it quick
    0.6 i think
    0.5 ^ hello/hi sorry
    0.9 call earlier
    0.9 would you like
    0.9 make your
    0.6 how may/can/could/do
    0.7 you're speaking/talking
    0.7 you are speaking/talking
    0.5 on reception
    0.5 this is ~ speaking
    0.8 who/what/how/which can/may/could/would you/i/we
    0.6 call you/me later
    0.8 who/what is/was it
    1.2 i would like to book/make/schedule/reschedule/arrange/reserve/cancel/change/move/order/buy/pay/report/ask/speak/talk/open/confirm
    1.2 i'd like/love to book/make/schedule/reschedule/arrange/reserve/cancel/change/move/order/buy/pay/report/ask/speak/talk/open/confirm
    1.2 i want/need/wanted to book/make/schedule/reschedule/arrange/reserve/cancel/change/move/order/buy/pay/report/ask/speak/talk/open/confirm
    1.2 i would like a/an/some
    1.2 i'd like/love a/an/some
    1.2 i want/need a/an/some/help
    1.2 i have a/an question/problem/issue/appointment/reservation/booking/order
    0.9 i'm calling about/regarding/because/to
    0.9 i am calling about/regarding/because/to
    0.6 i would like
    0.6 i'd like
    0.9 ^ (hello/hi/hey/yes) (would) like to/a`,
  recording: `
    1.1 the person/party/caller/customer/subscriber/user/member you
    1.1 ^ the/this person/party/caller/customer/subscriber
    1.0 ^ the mobile/cell/cellular/wireless/google
    0.2 ^ your call has/was/is/may/will/could/cannot/can't/did
    1.0 ^ this call/number/phone/line/mailbox/person/service
    1.0 ^ we're sorry
    1.0 ^ we are sorry
    1.0 ^ due to
    1.0 ^ unfortunately
    0.8 ^ i am sorry but
    1.0 ^ your call
    1.0 ^ all (of) our
    1.1 ^ all representatives/agents/operators/lines/circuits/associates/advisors
    0.7 ^ please listen/select/enter/choose/press/leave/record/note/state
    0.6 automatic/automated/automatically
    0.9 calling/choosing/contacting/ringing/phoning/welcome/reached/through/called/dialled/dialed + for/if/our/all/calls/press/we/listen/select/choose/use/record/leave/so/did/due/at/when/while/most/many
    0.9 calling/choosing/contacting/ringing/phoning/welcome/reached/through/called/dialled/dialed + please listen/select/enter/choose/press/hold/stay/wait/leave
    0.9 calling/choosing/contacting/ringing/phoning/welcome/reached/through/called/dialled/dialed + to make/continue/hear/schedule/pay/reach
    0.9 calling/choosing/contacting/ringing/phoning/welcome/reached/through/called/dialled/dialed + your call
    0.9 calling/choosing/contacting/ringing/phoning/welcome/reached/through/called/dialled/dialed + this call/phone/line/number
    0.5 wireless/cellular/mobile customer/subscriber/phone
    0.2 your call
    0.6 you are calling
    0.9 you're/are/have calling/called/dialed/dialled/reached is/has/does/cannot/can't
    0.9 you called/dialed/dialled/reached is/has/hasn't/does/cannot/can't
    0.6 to/at/for/on/in this number/line/phone
    0.6 subscriber/subscriber's/customer's/circuits/network
    0.7 can't/cannot/not/unable (to) receive/connect
    0.6 you have/were dialed/dialled/called/reached/trying
    0.3 at this time
    0.3 at the moment
    0.3 currently
    1.0 ^ notice/attention
    0.9 # # # ~ your call
    0.8 # # # (is) not/cannot/can't/unavailable/take
    0.6 ^ we cannot/can't/could/were/will/are/have/record
    0.4 ^ we
    0.5 calls
    0.5 so that
    0.3 place for
    0.4 person's
    0.2 our
    0.4 ^ you have
    0.3 service
    1.0 ^ our
    0.8 ^ hello/hi/sorry all/calls/messages/your
    0.7 ^ sorry there
    0.6 ^ hello/hi/sorry/but the
    0.6 ^ hello/hi/sorry (this) mailbox/number/customer/customer's/subscriber/person/person's/phone/line/service
    0.4 you have/were called/reached/dialled/dialed
    0.2 you're through
    0.5 you are through
    1.0 call/calls/conversation/conversations may/are/will/might/could + recorded/monitored/quality/training/screened
    0.8 ^ call/calls/our/your may/are/will/can't/cannot/has
    0.9 please/kindly listen/select/enter/choose/press/dial/key/note/remain/continue/try
    0.9 so/in that/order we/us/you/to can/may/direct/help/serve/assist/route
    0.9 to improve/better/serve/assist/direct/route/ensure/continue/proceed/repeat/replay/protect
    1.0 not able/unable/cannot/can't/couldn't to/receive/accept/complete/connect/be + call/calls/message/messages`,
  voicemail: `
    0.9 ^ at the tone
    1.1 leave (me) a/your (brief/short/detailed/voice/quick) message
    1.1 leave (me/us) (a/your/his/her/their) (brief/short/detailed) message/voicemail
    1.0 leave your name
    0.9 please leave
    0.8 and leave
    1.1 after/at the tone/beep/signal
    1.1 wait for the tone/beep
    1.0 record your message
    1.0 record a message
    0.45 you have reached
    0.2 ^ hi/hey you've/you reached
    0.35 you've reached
    0.6 reached + i/i'm/we/we're/sorry/nobody/no
    0.5 you reached
    1.1 voicemail
    0.8 mailbox/inbox
    1.1 voice mail
    1.1 voice mailbox
    1.0 mailbox of/for
    0.9 answering machine
    0.8 can't/cannot come to the phone
    1.0 can't/cannot get/answer/come/take
    1.1 can't/cannot take your/the/this call
    1.0 can't/cannot answer
    1.0 unable to take/answer/come
    0.9 not able to take/answer/come
    0.8 isn't available
    0.7 is not available
    0.5 not available (right) (now)
    0.8 i'm/we're not available
    1.0 unavailable
    1.0 away from (my/the) phone/desk
    0.8 i'm/we're/i/we ~ not (here/home) right now
    0.8 i'm/we're/i/we ~ not in right now
    0.8 out of the office
    0.8 nobody's/nobody home
    1.0 nobody/no one/noone (is) (available/here/able) to take
    1.0 get/call/ring back to/you ~ soon/possible
    1.0 get back to you
    0.8 return your call
    1.0 your call has been forwarded
    1.0 call has been forwarded
    0.9 forwarded to
    0.8 finished recording
    0.8 hang up or press
    1.0 you know what to do
    0.7 do your thing
    0.9 ^ nobody is
    0.9 this is ~ phone/cell/voicemail
    0.7 away from
    0.7 i'm unable
    0.6 as soon as
    0.4 message
    0.5 messages
    0.4 tone
    0.5 beep
    0.3 recording
    0.1 missed
    0.3 available
    0.4 i'm not
    0.2 call me/you
    0.1 reached
    1.0 sorry i/we can't/cannot/could take/come/get/answer/pick/reach/be
    0.6 on another call
    0.2 on (the) other line
    0.3 sorry (i/we) missed
    0.2 missed your call
    0.8 i'll/will/shall call/ring/text you (back)
    0.7 you know the drill
    0.6 unable to
    0.5 i'm/we're/i/we not here
    0.6 i'm on holiday/vacation
    0.6 i'm away
    0.6 not here
    0.5 can't/cannot pick
    0.4 leave
    0.5 signal
    0.7 your phone number/name
    0.6 recording system
    0.8 your details
    1.0 messaging service
    0.5 you've got
    0.6 this is + i/i'm/sorry/nobody/we/leave/please/you
    0.6 it's + i'm/sorry/nobody/we/leave/please
    0.6 phone i/i'm/sorry/nobody/we/leave/please
    0.9 sorry (i/we) missed you
    0.5 probably/either
    0.4 this is + i'm/we're/nobody/leave
    0.4 this is + i/we am/are/can't/cannot/never/will/won't/couldn't/missed
    0.6 you've got + i/i'm/we/we're/sorry/leave
    0.5 here ~ i'm/nobody/we're
    0.4 it's + i'm/we're/nobody/leave
    0.4 it's + i/we am/are/can't/cannot/never/will/won't/couldn't/missed
    0.4 take your call
    0.6 speak/speaking clearly
    0.6 messaging
    0.6 never check
    0.4 i missed you
    0.8 missed you ~ this/it's
    0.7 you know what/the
    0.6 know what to
    0.4 what to do
    0.6 nobody is
    0.6 speak/speaking after/when/at
    0.6 drop me
    0.7 this week
    1.2 when (you) (are) (you're) done/finished
    0.8 for more options
    0.8 begin speaking
    0.8 hear the/a tone/beep
    0.8 your message (now) and
    1.2 just/only kidding/joking
    1.2 gotcha/fooled
    0.8 well not
    0.9 i/we can't/cannot/couldn't/won't/am/are/can + phone/call/calls
    0.9 i'm/we're away/unavailable/unable/out/travelling/traveling/abroad/asleep/tied
    0.9 i/we am/are away/unavailable/unable/out/travelling/traveling/abroad/asleep/tied
    1.0 nobody/none/everyone/no is/one/of + available/here/home/able/take/answer/in/free
    0.5 sorry i/we/that have/could/am/are/cannot
    0.7 don't listen/check
    0.9 leave/drop/send/shoot/record + line/message/text/voicemail/details/note/word/words/number/name
    0.9 i'll/we'll + back/soon/possible
    0.9 i/we will/shall/can + back/soon/possible
    0.8 as soon/quickly as i/we/possible
    1.1 following/with the tone/beep/signal
    0.6 after/at the bleep
    0.6 not around/home/about
    0.6 bleep
    0.8 out of the/town/country
    0.7 text/email/e-mail/whatsapp me
    0.5 until monday/tuesday/wednesday/thursday/friday/tomorrow/next/the`,
  mailbox_unavailable: `
    1.6 mailbox is full
    1.6 mailbox ~ is full
    1.6 memory is full
    1.6 is full and can't/cannot accept
    1.6 can't/cannot accept (any) (new/more) messages
    1.6 not accepting (any) (new) messages
    1.6 has not been set up
    1.6 hasn't been set up
    1.6 not (yet) been set up
    1.6 has not set up
    1.6 hasn't set up
    1.6 isn't set up
    1.6 is not set up
    1.6 not yet set up
    1.6 has not been initialized/activated
    1.6 no room for (new) messages
    1.6 no space for (new) messages
    1.2 mailbox/box ~ full
    1.2 not accepting
    1.2 been set up
    1.2 set up (a) mailbox/voicemail
    1.2 cannot/can't accept
    1.2 new messages
    1.1 no room
    1.0 is full
    1.6 no space
    1.6 been activated
    1.2 can't/cannot be left
    1.4 mailbox/inbox/voicemail/memory/box ~ full/space/room/activated/initialized/enabled/configured
    1.4 messages/message/voicemails can't/cannot/could/may be/not
    1.4 can't/cannot/not/unable/longer accept/accepting/take/receive/receiving/store (any) (new/more/further/additional) messages/voicemails/recordings
    1.4 not/never/hasn't/isn't ~ set/been up/activated/initialized/configured
    1.2 is/currently/now/completely full
    1.4 no ~ mailbox/voicemail/voicebox ~ set`,
  ivr: `
    1.0 ^ this call is/may/will
    1.0 ^ calls are/may
    0.9 ^ for sales/support/english/appointments/billing
    0.9 if this is an
    1.0 assisting other
    1.0 high call volume
    1.0 your wait
    0.9 hang up and dial
    0.4 for choosing/calling/contacting/ringing/phoning/holding
    0.5 this call
    1.2 press/dial/push #
    1.2 press/dial/push the # key
    1.2 press/dial/push star/pound
    1.2 or say #
    1.0 say or press
    1.0 using your keypad
    1.0 on your keypad
    1.0 touch tone
    1.0 para espanol
    1.1 following options
    1.1 following menu
    1.1 menu options
    1.1 main menu
    1.1 our menu/options have/has
    1.0 listen carefully
    1.0 select from
    0.9 know your party's extension
    0.9 know the extension
    0.9 enter the extension
    0.9 enter your ~ number
    0.9 enter your ~ code
    0.9 please enter
    0.8 office hours are
    0.8 business hours are
    0.8 our hours are
    0.9 call/calls may be recorded/monitored
    0.9 call/calls may be monitored or recorded
    0.9 call/calls is/are recorded
    0.9 recorded for quality
    0.9 for quality (assurance) and training
    0.9 quality (and) (assurance) (training) purposes
    1.0 your call is important to us
    1.0 calls ~ in the order
    1.0 remain on the line
    1.0 stay on the line
    1.0 agents/representatives/operators/associates are (currently) busy/assisting/helping
    1.0 all (of) our ~ are
    1.0 next available
    1.0 your estimated wait
    1.0 virtual assistant
    0.7 automated assistant/system/attendant
    1.0 in a few words
    0.6 tell me what/why you are calling
    0.6 tell me what/why you're calling
    0.4 welcome
    0.6 press
    0.3 dial
    0.5 menu
    0.6 options
    0.5 extension
    0.9 recorded
    0.9 monitored
    0.5 select
    0.6 choose
    0.6 automated
    0.6 representative/representatives
    0.5 agent/agents
    0.2 busy
    0.6 hours
    0.5 emergency
    0.6 to continue
    0.6 one of the
    0.6 you can say
    0.6 for sales/support/billing/appointments/claims/reservations
    0.6 to speak/reach/make/change
    0.6 wait time
    0.6 will be with you
    0.8 call volume
    0.8 in the order
    0.5 account number
    0.5 all (of) our
    0.6 higher/longer ~ normal/usual/expected
    0.8 in the queue/line
    0.5 queue
    0.5 keypad/menu/hash/pound
    0.5 ^ please listen/select/enter/choose/press
    0.9 tell us
    0.7 our website
    0.6 other callers/customers/calls
    0.6 shortly
    0.5 hold the line
    0.5 your patience
    0.5 advisor/adviser/advisors
    0.4 please hold
    0.4 we record
    0.5 call/calls may/are/will
    0.6 room for
    0.3 open/opening
    0.5 if you are/know/have/would/want/wish
    0.4 is important
    0.9 important to us
    0.5 for/your patience
    1.0 ^ you are number
    1.0 ^ you're number
    1.0 ^ hello from
    0.5 and welcome
    0.6 for your patience
    0.5 our team/lines/offices
    0.6 so that we
    0.8 did you know
    0.6 we have a/several/some
    0.6 visit our
    0.9 longer waits/wait
    1.0 are experiencing
    1.0 we're experiencing
    0.6 if this is
    0.5 key in
    0.4 good day and
    0.9 call/calls may/are/will/might/could be/recorded/monitored
    0.8 record/monitor/records/monitors all/our/your/this/some calls/call
    0.8 quality/training/security assurance/purposes/reasons/and
    0.7 choices/choice/option/selection/selections/departments
    0.7 one/any/some/few/several of/choices (the/our) following/options/below/departments
    0.9 place/position/number/spot in (the/our) queue/line
    0.9 your/our place/position/turn in/is
    0.9 agent/advisor/adviser/representative/operator/specialist/associate/colleague/colleagues/team/agents/advisors/advisers/representatives/operators/specialists/associates will/is/are
    0.8 other callers/customers/calls/clients/patients
    0.8 will/be answered/with/connected/transferred (you/to/by/in/as) (the/you/our/shortly/soon/order)
    0.8 as quickly as
    0.8 we'll/someone + quickly/shortly/soon/moment
    0.8 we will + quickly/shortly/soon/moment
    0.7 lines/offices/office/store/branch/hours/doors are/is (currently/now) open/closed/from
    0.7 online/website/www
    0.7 key/type/punch in
    0.8 if/whether you already/have/know/need/would/want/wish/are
    0.7 new/existing/returning customer/customers/patient/patients/client/member
    0.8 wait/waits/waiting/hold time/times/than
    0.6 to hear/report/pay/schedule/cancel/check/book
    0.9 experiencing/receiving/due ~ high/higher/long/longer/unusually
    0.8 tell/say/describe us/me/briefly + call/calling/about/help/need
    0.9 ^ thank you for your
    0.9 ^ thanks for your
    0.9 you are (currently/now) (the) (caller) number/next/caller
    0.9 you're (currently/now) (the) (caller) number/next/caller
    0.9 the place/home/leader/leading/best/premier/trusted/nation's/world's/country's/number for/of/in/one/choice/provider/source
    0.9 we/we'll/will record/monitor
    0.3 ^ good day`,
  screener: `
    1.3 state your name
    1.3 say your name
    1.3 record your name
    1.3 name and (the) (your) reason
    1.3 name and why you're/you calling
    1.2 reason for your call
    1.2 reason for calling
    1.2 reason you're/you calling
    1.2 call screening
    1.2 screening service/this/calls
    1.2 call assist
    1.2 call assistant
    1.1 say who you are and why
    1.1 say who is calling
    1.1 say who you're calling
    1.1 tell me who you are
    1.1 tell me your name
    1.1 your name after
    1.1 who you are and why
    1.1 before i/we connect
    1.1 before i/we try to connect
    1.1 before your call is connected
    1.0 see if this person is
    1.0 see if they/he/she are/is available
    1.0 see if ~ is available
    1.0 try to connect you
    1.0 thanks/thank (you) please hold/wait
    1.0 connecting you
    1.0 stay on the line
    1.0 would like to know who is calling
    1.2 accepts calls
    0.9 is using (a)
    0.9 google will
    0.9 you'll be connected
    0.5 what is this ~ about
    0.5 what's this ~ about
    0.9 why are you calling
    0.9 you're calling about
    0.9 unknown callers
    0.9 not a robot
    1.0 ^ before
    0.9 screening
    0.9 screens
    0.9 call screening/assist/assistant
    0.6 assistant
    0.4 your name
    0.8 record ~ name
    0.6 name and
    0.5 reason
    0.9 who/who's (is) calling and
    0.6 tell me
    0.6 and why
    0.5 connected
    0.5 this person
    1.1 give/provide/announce/identify me/your/yourself (your) name/purpose/and
    0.9 announce/identify yourself
    1.2 announce/identify yourself after/at
    1.0 who may/shall/should i say
    1.1 name and (the) (your) purpose
    1.0 purpose of your/the/this call
    0.8 in/with regard/regards/reference
    0.7 your purpose
    0.7 ^ before
    0.9 screen/screens/screening/filter/filters/filtered (this/your/calls/call)
    0.7 put you through
    0.6 receptionist/assistant answering
    0.7 tell me who
    0.5 why you're/you
    0.6 can't/cannot see
    0.6 uses/using
    0.8 known/unknown/unfamiliar numbers/callers/caller
    0.6 want/can/able to talk
    0.4 digital/virtual/automated/automatic assistant/receptionist
    0.6 regarding
    0.9 does not/doesn't ring
    0.7 protected by
    0.7 asked me to
    0.7 answering for
    0.5 who this is
    0.5 on the line and
    0.6 i say is/who
    0.6 ^ this phone/number is/does
    1.1 introduce yourself
    0.8 yourself
    0.8 who you are
    1.0 who are you and
    0.6 who + calling
    0.6 may/can/could i/we have/get/take/ask your (full/first) name
    0.8 need/needs/want/know your name
    1.1 state/give/speak/mention/share/provide/announce/repeat/spell/leave (me/us) (your/a) (full/first) name and
    0.9 name company/business/organization/organisation
    0.9 your company
    0.8 what should/shall/can/may i tell/say
    1.0 see/check/ask/know/find/out/determine if/whether they/he/she/this/the/your/someone/anyone
    0.8 ask/asking/tell/telling/notify/notifying/inform/informing them/him/her
    0.8 pass it/this/that/you/your
    0.9 ring/patch/let/get you/your/them through
    0.8 put/get/patch/ring/connect/connected/come through
    0.9 announced
    0.8 reason/purpose/nature for/of
    0.7 purpose
    0.9 what it/this/you/your is/are/call/it's/you're ~ about/for/regarding/concerning
    0.7 what you/you're want/need/calling/would
    0.7 real/live person/human/caller
    0.9 a/an robot/bot/robocall
    0.9 spam/robocall/robocalls/robocaller/telemarketers/telemarketer/solicitors/blocker/unsolicited
    0.8 unidentified/unrecognized/unrecognised/unverified/hidden
    0.9 recognize/recognise your/the/this/you
    0.9 numbers/callers/calls ~ recognize/recognise/know/knows
    0.8 assistant/attendant/secretary/receptionist of/for
    0.6 ai
    0.8 answering/answer/take/takes/taking/pick/picking (up) (the) (phone/calls) for
    0.7 on ~ behalf
    0.7 new to
    0.9 calls from
    0.7 who calls/called
    0.8 before i/we/you/they/he/she/answering/connecting/taking/ringing/accepting
    0.7 wait while/until
    0.7 while i check/ask/try/connect/get/see
    0.9 try/trying to put/connect you/your
    0.8 company are/do you
    0.6 has turned on
    0.8 smart call
    1.2 name/yourself/who/company and/before ~ why/what/purpose/reason/regard/regarding/concerning/business/company/want/need/calling/matter/nature
    1.2 say/state/tell/give/provide/announce/introduce/identify/share ~ who/yourself/name ~ are/is/what/why/reason/purpose/about/calling/company/before
    1.0 after/at the tone/beep ~ say/state/give/announce/introduce/identify/tell ~ who/yourself/name
    1.0 i'll/we'll/they'll/and see/check/ask/find/try/announce/let if/out/whether/them/him/her/to/with/you
    1.0 i/we will see/check/ask/find/try/announce/let if/out/whether/them/him/her/to/with/you
    1.0 see/check/ask/find/out/know if/whether ~ available/free/talk/speak/take/answer/around
    1.1 call/calls/caller/callers/phone ~ filter/filtered/screen/screened/screening/blocker/protection/guard/shield/assist/assistant
    1.0 filter/screen/screens/filters/check/checks/protect/protects/block/blocks who/calls/call/callers/this
    0.9 doesn't/does/will/won't/only/never (not) take/takes/accept/accepts/ring/rings/receive/receives/allow/allows + number/numbers/callers/caller/calls/strangers
    0.9 who/what ~ should/may/shall/can/do ~ i/we ~ say/tell/announce/know
    0.9 put/pass/let/ring/connect/patch/transfer (you/your/it/this/the/them) (call) (to) through/on/along/over
    1.0 i/who/which/and answer/answers/pick/picks/take/takes/screen/handle/handles/manage/manages + phone/calls/line for/of
    1.0 assistant/attendant/receptionist/secretary/agent of/for/answering/from/that/who
    0.9 can't/cannot/doesn't/does (not) see/recognize/recognise/know/identify who/your/this/the/caller/number/it
    0.9 digital/virtual/automated/automatic/ai/personal/smart assistant/receptionist/attendant/secretary/call
    0.8 who/what/why (is) (you) (you're) calling/this ~ and
    1.0 need/want/like to know/have ~ who/name/what/why/purpose/reason
    1.2 say/state/tell/give/speak/record (us/me) your + name
    1.2 is/are/being screened/filtered
    1.2 privacy manager/guard/director/screening/screen
    0.9 let them/him/her know`,
  announcement: `
    0.7 the network
    0.9 ^ attention
    1.4 number you have/are dialed/dialled/called/reached/calling/dialing is/has
    1.4 number you dialed/dialled/called/reached is/has
    1.4 number you have dialed/dialled/called/reached
    1.4 number you dialed/dialled
    1.4 not in service
    1.4 no longer in service
    1.4 out of service
    1.4 has been disconnected
    1.4 been disconnected
    1.4 cannot/can't be completed
    1.4 could not be completed
    1.4 not be completed as dialed/dialled
    1.4 check the number
    1.4 has been changed
    1.4 the new number is
    1.4 circuits are (now) busy
    1.2 try your call (again) later
    1.2 try again later
    1.0 please hang up and
    1.4 cannot/can't be reached
    1.4 not (currently) reachable
    1.4 switched off
    1.4 powered off
    1.4 turned off
    1.4 coverage area
    1.4 not (been) recognized/recognised
    1.4 not receiving calls
    1.4 not accepting calls
    1.4 incoming calls
    1.4 does not exist
    1.2 experiencing technical
    1.2 network is (currently) busy
    1.0 ^ the number
    0.9 the number you
    0.7 dialed/dialled
    0.8 disconnected
    0.8 in service
    1.0 circuits
    0.9 coverage
    0.9 reachable
    0.9 restrictions
    0.9 be completed
    0.8 try again
    1.0 did/does/could not go/connect
    1.0 could/can not be (connected/completed)
    0.9 barred
    0.9 suspended
    0.7 no subscriber
    0.8 connect your call
    0.9 cannot/can't receive
    0.5 dial again
    0.3 number
    0.6 network
    1.0 calls to this
    0.7 this customer's
    0.7 has been`,
}
