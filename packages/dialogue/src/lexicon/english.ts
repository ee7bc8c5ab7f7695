import type { LexiconData } from './lexicon-data.ts'

export const ENGLISH: LexiconData = {
  language: 'en',
  dangling: `a an the and or but nor so because since although though unless until while if whether that which who whose whom
    to of in on at by for from with without about into onto over under between among through during before after against
    toward towards upon via per than as my your his our their its these those every each another such very really quite
    i we they he she i'm you're we're they're he's she's it's that's there's here's what's i've we've they've you've
    i'll we'll they'll you'll i'd we'd they'd you'd he'd she'd let's gonna wanna also plus then maybe`,
  weaklyDangling: `is are was were am be been being do does did can could will would should shall may might must have has had
    want wants wanted need needs needed like try trying tried going get got getting said says saying call called named
    think guess hope wonder wondering asking asked tell told give gave take took make made put see isn't aren't wasn't
    don't doesn't didn't can't couldn't won't wouldn't shouldn't not just only this some any more than her it's called
    mr mrs ms doctor street's number's name's name`,
  fillers: `um; umm; uh; uhh; er; erm; hmm; hm; mm; mmm; ah; eh; so; you know; i mean; kind of; sort of; basically; let's say; i guess; and so; and then; what's it called; how do you say; how should i put it`,
  hesitations: `let me see; let me think; let me check; let me look; let me find it; let's see; hang on; hold on; wait
    one second; one sec; just a second; just a sec; one moment; just a moment; give me a second; give me a moment
    give me a minute; just a minute; bear with me; where is it; where was i; what was it; what else; hold on a second
    hang on a second; let me get it; let me grab it; i'm looking`,
  answers: `yes; yeah; yep; yup; no; nope; nah; sure; okay; ok; alright; all right; right; correct; exactly; absolutely
    definitely; of course; thank you; thanks; thank you very much; thanks a lot; no thanks; no thank you; yes please
    yes thank you; i do; i am; i did; i have; i will; i can; i would; i don't; i'm not; i can't; i didn't; i haven't; it is
    it isn't; it was; it does; they are; we are; we do; not really; not yet; not now; not at all; i think so; i don't think so
    i guess so; i hope so; i suppose so; i believe so; i'm afraid so; i'd say so; i hope not; i guess not; i suppose not
    i think not; i'm afraid not; i don't believe so; that's right; that's correct; that's it; that's all; that is all; that'll be all; nothing else
    goodbye; bye; bye bye; good bye; hello; hi; hey; maybe; perfect; great; good; fine; very good; sounds good; go ahead
    never mind; nevermind; i don't know; no idea; me too; neither; both; none; nothing; anytime; any time; never; always
    today; tomorrow; tonight; yesterday; you too; see you; what; who; when; where; why; how; sorry; pardon; excuse me
    okay thanks; okay thank you; okay bye; please; please do; yes i do; yes i am; yes i did; yes i have; yes it is; yes it was
    yes i can; yes i would; yes we do; no i don't; no i'm not; no i didn't; no i haven't; no it isn't; no it's not; no i can't`,
  closers: `please; thanks; thank you; bye; goodbye; that's all; that's it; for now; right now; as well; too; thank you so much
    thanks a lot; thanks for your help; if that's okay; if possible; or not; right; okay
    cancel that; forget that; stop that; change that; do that; like that; repeat that; say that`,
  questionWords: `what where when why who whose which how can could would will do does did is are was were have has should may`,
  digits: 'zero oh o one two three four five six seven eight nine',
  numbers: `ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety hundred thousand double triple`,
  numberNames: `number phone telephone cell mobile card account code zip passport policy reservation confirmation order
    license licence social security extension pin reference tracking booking serial member membership`,
  spellingNames: 'spelled spelt spell spelling letters letter initials',
  connectors: 'dot underscore dash hyphen slash point area',
  months: 'january february march april may june july august september october november december',
  announcers: `is are it's that's name's number's code's address's i'm`,
  dateWords: `monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight noon midnight morning afternoon
    evening weekend monday's am pm o'clock first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth`,
  proVerbs: `do does did don't doesn't didn't`,
  monthPrepositions: 'in since until till by of',
  ordinals: 'first second third fourth last former latter one ones both either neither any earlier later',
  backchannels: `yeah; yes; yep; yup; ya; uh-huh; uh huh; mm-hmm; mm hmm; mmhmm; mhm; mhmm; mm; mmm; hmm; hm; uhuh; aha; ah; oh
    okay; ok; k; right; all right; alright; i see; sure; got it; gotcha; i got it; cool; great; good; exactly; of course
    makes sense; true; wow; nice; fine; very good; i understand; understood; that's right; absolutely; perfect`,
  assents: `yeah; yes; yep; yup; okay; ok; right; all right; alright; sure; of course; exactly; absolutely; that's right
    uh-huh; uh huh; mm-hmm; mm hmm; mmhmm; mhm; perfect; fine; good`,
  acceptances: `yes perfect; yes great; yes good; yes right; yes exactly; yes absolutely; yes of course; yes that's right; yes fine
    yeah perfect; yeah great; yeah that's right; yes okay perfect; perfect yes; okay perfect`,
  corrections: `no; nope; sorry; i mean; i meant; actually; or rather; make that; scratch that; not that; oh no; oh sorry; oh wait; wait
    uh no; um no; excuse me; i take that back`,
  undecided: `i don't know; i do not know; don't know; not sure; i'm not sure; i am not sure; no idea; good question`,
  stops: `stop; wait; no; nope; actually; hold on; hang on; excuse me; one moment; just a moment; one second; just a second
    listen; cancel; quiet; enough; pause; but; hold up; no no; sorry; shut up; be quiet; stop it`,
  greetings: 'hello; hi; hey; hello there; hi there; good morning; good afternoon; good evening; hello hello',
  agentBackchannels: 'uh-huh; mm-hmm; right; okay; I see',
}
