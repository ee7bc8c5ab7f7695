import { type LanguageWordings, lines } from './wordings.ts'

export const ENGLISH: LanguageWordings = {
  names: [
    'Anna Miller',
    'John',
    'Robert Hayes',
    'Maria',
    'Doctor Patel',
    'the Johnsons',
    'Steve',
    'Emily Chen',
    'Mike Brown',
    'Susan',
  ],
  companies: [
    'Riverside Dental',
    'Acme Plumbing',
    'First National Bank',
    'Green Valley Clinic',
    'Smith and Partners',
    'City Motors',
    'Lakeview Hotel',
    'Northern Insurance',
  ],
  wordings: {
    person: [
      lines(`
        Hello?
        Hello.
        Hi.
        Hi there.
        Yes?
        Yeah?
        Yes, hello?
        Hello, who is this?
        Hello, this is {name}.
        {name} speaking.
        This is {name}.
        Hey, what's up?
        Hey.
        Good morning.
        Good afternoon, {name} here.
        Hello, hello?
        Hello, can you hear me?
        Yep.
        Go ahead.
        Who's calling?
        Hi, this is {name}, how are you?
        Hello, Hayes residence.
        Yes, speaking.
        Hello, sorry, I was just looking for my phone.
        Hi, I'm driving, can you make it quick?
        Hey, hold on a second, let me close the door.
        Mom? Is that you?
        Hello, one moment please.
        Um, hello?
        Uh, yes, who am I speaking with?
        Hiya.
        Hello, Miller.
        Hi, is this about the delivery?
        Oh, hello, I did not expect a call.`),
    ],
    company: [
      lines(`
        Good morning, {company},
        Good afternoon, thank you for calling {company},
        Thank you for calling {company},
        Thanks for calling {company},
        Hello, {company},
        Hi, {company},
        {company}, good morning,
        {company}, customer service,
        Good evening, you're through to {company},
        Welcome to {company},
        Hello and thanks for calling {company} today,
        {company}, front desk,`),
      lines(`
        this is {name}, how can I help you?
        my name is {name}, how may I help you today?
        {name} speaking.
        you are talking to {name}, what can I do for you?
        this is {name}, how may I direct your call?
        {name} here, how can we help?
        how can I help you today?
        this is {name} at the front desk, how are you today?
        what can I do for you?
        {name} speaking, how could I help?`),
    ],
    voicemail: [
      lines(`
        Hi, you've reached {name}.
        Hello, you have reached {name}.
        Hi, this is {name}.
        Hey, it's {name}.
        Hello! | You've reached the voicemail of {name}.
        This is {name}.
        You've reached {company}.
        Hello, this is the voice mailbox of {name}.
        Hi, you've reached the phone of {name}.
        Thank you for calling {company}.
        Hey there, this is {name}'s phone.
        Hello?  | Just kidding, this is {name}'s voicemail.
        Hi! | Sorry I missed you, this is {name}.
        Yo, this is {name}, you know what to do.`),
      lines(`
        I can't come to the phone right now,
        I'm not available at the moment,
        Sorry I missed your call,
        I'm unable to take your call right now,
        I can't answer the phone right now,
        I'm either away from my desk or on another call,
        We can't take your call at the moment,
        I'm out of the office until Monday,
        Nobody is available to take your call,
        I am on the other line or away from my phone,
        I'm probably busy or sleeping,
        We are closed right now,
        I cannot get to the phone,
        I'm not here right now,`),
      lines(`
        please leave a message after the tone.
        leave a message and I'll get back to you as soon as possible.
        please leave your name and number and I'll call you back.
        so leave me a message after the beep.
        please leave your name, number and a brief message after the tone.
        leave your message at the beep, thanks.
        please leave a detailed message and we will return your call.
        just leave a voicemail and I will call you later.
        please record your message after the signal.
        so do your thing at the beep.
        leave me a short message and have a great day.
        please leave a message and I will get back to you as soon as I can. Bye.
        please speak after the tone.
        send me a text, or leave a message.`),
    ],
    'operator-voicemail': [
      lines(`
        Your call has been forwarded to an automatic voice message system.
        Your call has been forwarded to voicemail.
        The person you are trying to reach is not available.
        The person you're calling is not available right now.
        The Google subscriber you have called is not available.
        The wireless customer you are calling is not available.
        The party you are calling is unable to take your call.
        The customer you dialed cannot answer at this time.
        Please leave your message for {number}.
        You have reached the voice mailbox of {number}.
        Nobody is able to take your call right now.
        The person at extension {number} is unavailable.`),
      lines(`
        {number} is not available. At the tone, please record your message.
        Please leave your message after the tone. When you have finished recording, you may hang up.
        Please record your message after the beep.
        At the tone, please record your message. When you are finished, hang up or press one for more options.
        Record your message at the tone. Press any key or stop talking to end the recording.
        To leave a callback number, press five. Please leave a message.
        Please leave a message after the tone.
        Please speak clearly after the tone.
        Leave a message after the signal.
        Wait for the tone, then leave your message.`),
    ],
    mailbox_unavailable: [
      lines(`
        We're sorry,
        I'm sorry,
        The person you are trying to reach is not available, and
        Sorry,
        The subscriber is not available, and
        Hello,
        You have reached {number}.
        We are unable to take your call,
        I am sorry, but
        Your call cannot be taken,`),
      lines(`
        the mailbox is full and cannot accept any messages at this time. Goodbye.
        the mailbox belonging to this subscriber is full. Please try again later.
        the voice mailbox has not been set up yet. Goodbye.
        the person you are calling has a voicemail box that has not been set up yet.
        the voicemail box is full.
        the memory is full and cannot take new messages.
        this mailbox is not accepting messages right now.
        the customer you called hasn't set up a mailbox.
        the voice mail for this number is not set up.
        the mailbox you have reached cannot accept new messages.
        there is no room for new messages in this mailbox.
        the mailbox has not been activated.`),
    ],
    ivr: [
      lines(`
        Thank you for calling {company}.
        Welcome to {company}.
        Thanks for calling {company}.
        Hello, and welcome to {company}.
        You have reached {company}.
        You've reached the {company} customer service line.
        {company}.
        Good day, and thank you for calling {company}.
        Thank you for choosing {company}.
        Hi! Welcome to {company}.`),
      lines(`
        Please listen carefully, as our menu options have changed.
        This call may be recorded for quality and training purposes.
        If you know your party's extension, you may dial it at any time.
        Para español, oprima el dos.
        If this is an emergency, hang up and dial nine one one.
        Please select from the following options.
        Our office hours are nine to five, Monday to Friday.
        Your call may be monitored or recorded.
        To continue in English, press one.
        Please choose one of the following.
        Calls are recorded for quality assurance.
        Our automated system can help you with most questions.`),
      lines(`
        For sales, press one. For support, press two. For anything else, press zero.
        Press one for appointments, or two for billing.
        To speak to an operator, press zero.
        For hours and directions, press one. To reach the front desk, press two.
        To make a reservation, press one. To change a reservation, press two.
        In a few words, tell me what you are calling about.
        Please enter your account number followed by the pound key.
        Say or press one for claims.
        Dial one for the main office, two for the warehouse.
        You can say things like, pay my bill, or check my balance.
        For prescription refills, press two. For the nurse, press three.
        Please enter the extension of the person you are calling.`),
    ],
    'hold-queue': [
      lines(`
        All of our agents are currently busy.
        All representatives are assisting other customers.
        Your call is important to us.
        Thank you for holding.
        Due to high call volume, your wait may be longer than usual.
        All our operators are busy at the moment.
        Your estimated wait time is five minutes.
        Calls are answered in the order they are received.`),
      lines(`
        Please stay on the line and your call will be answered by the next available agent.
        Please remain on the line.
        Please hold for the next available representative.
        A representative will be with you shortly.
        Your call will be answered in the order it was received.
        Please continue to hold.
        Please hold and someone will be right with you.
        Someone from our team will be with you soon.`),
    ],
    screener: [
      lines(`
        Hi, if you record your name and reason for calling,
        Hello, the person you are calling is using a screening service from Google.
        Hi, the person you're calling uses call screening.
        Hello, you have reached a call assistant.
        The number you are calling screens its calls.
        Hi, this is the call assist of {name}.
        Hello, before I try to connect you,
        The person you called accepts calls from known numbers only.
        This is an automated assistant answering for {name}.
        Hi! {name} is using a call assistant.
        To reach this person,
        Hello, I am the virtual assistant of {name}.`),
      lines(`
        I'll see if this person is available.
        please state your name and the reason for your call.
        may I ask who is calling and why?
        please say your name and why you're calling.
        please tell me who you are and what this is about.
        go ahead and say your name, and why you are calling.
        what is the reason for your call?
        please say your name after the tone and wait to be connected.
        can you tell me your name and what you are calling about?
        please record your name and reason for calling.
        please state your name after the beep, and Google will try to connect you.
        say who is calling, and I will check if they can talk.`),
    ],
    'screener-question': [
      lines(`
        And what is this call about?
        What is the reason for your call?
        Is it urgent?
        Could you tell me more about why you are calling?
        Thanks. Please stay on the line.
        Thank you, please wait while I try to connect you.`),
    ],
    announcement: [
      lines(`
        We're sorry.
        The number you have dialed,
        I'm sorry,
        We are sorry, but
        Sorry,
        Your call cannot be completed as dialed.
        Attention.
        This is a recording.
        Welcome to the network.`),
      lines(`
        The number you have dialed is not in service. Please check the number and dial again.
        the number you have reached has been disconnected or is no longer in service.
        your call could not be completed as dialed. Please check the number and try again.
        the number you dialed has been changed. The new number is {number}.
        all circuits are busy now. Please try your call again later.
        the mobile phone you are calling is switched off or out of the coverage area.
        the customer you are calling cannot be reached at the moment.
        the number you have called is not recognised.
        the person you have called is not receiving calls at this time.
        this number does not exist.
        the subscriber you have dialed is not reachable. Please try again later.
        the number you are calling has calling restrictions that have prevented the completion of your call.`),
    ],
    reply: [
      lines(`
        Yes, that's me.
        Yes, speaking.
        Who is this?
        What is this about?
        Sure, go ahead.
        No, she is not here right now.
        Sorry, what was that?
        I'm a bit busy.
        Okay.
        Which company did you say?
        Hello? Are you there?
        Yes, I can hear you.`),
    ],
  },
}
