import type { Lexicon } from './lexicon.ts'
import { phrases } from './phrase-matcher.ts'

const OTHER_DATE =
  'another day,another date,another weekday,other day,other days,other dates,different day,different date,different days,some other day'
const OTHER_TIME =
  'another time,other time,other times,another hour,different time,different times,different hour,some other time'

export const ENGLISH: Lexicon = {
  grammar: new Set(
    phrases(`a,an,the,this,that,these,those,i,me,my,mine,we,us,our,you,your,yours,he,she,it,its,they,them,their,his,her,
      is,are,am,was,were,be,been,being,do,does,did,done,have,has,had,having,will,would,can,could,shall,should,may,might,
      must,to,of,in,on,at,for,from,with,by,about,as,into,onto,up,out,over,under,and,or,but,if,then,than,so,because,while,
      when,who,whom,whose,what,which,where,why,how,there,here,also,too,very,just,only,some,any,all,both,each,more,most,
      other,such,own,same,now,well,please,s,not,no,never,without,yet,still,already,much,many,let,um,uh,er,ah,oh,hmm,
      something,anything,else,another,every,everything,either,neither,nor,whether,themselves,itself,want,wants,like,
      really,got,get,gets,going,gonna,go,whatever,kind,sort,one's`),
  ),
  framing: new Set(
    phrases(`caller,callers,customer,customers,user,users,client,clients,want,wants,wanted,wish,wishes,would,like,likes,
      need,needs,needed,ask,asks,requested,asking,say,says,said,saying,tell,tells,told,telling,give,gives,gave,given,giving,
      provide,provides,provided,mention,mentions,mentioned,state,states,stated,request,requests,requested,indicate,
      indicates,indicated,choose,chooses,chose,chosen,pick,picks,picked,select,selects,selected,express,expresses,try,
      tries,trying,intend,intends,decide,decides,decided,respond,responds,reply,replies,replied,inquire,inquires,ask for,
      explain,explains,describe,describes,know,knows,names,talk,talks,speak,speaks,call,calls,calling,clearly,
      explicitly,instead,rather,prefer,prefers,preferred,expressed,question,questions,answer,answers,answered,seem,seems,
      sound,sounds,wishes,desire,desires,look,looking,looks,him,willing,interested,interest,speech,turn,option`),
  ),
  asking: new Set(phrases('ask,asks,requested,asking,inquire,inquires,wonder,wonders,question,questions,know')),
  wanting: new Set(
    phrases(
      'want,wants,wish,wishes,like,likes,need,needs,prefer,prefers,request,requests,ask,asks,interested,orders,ordering,buys',
    ),
  ),
  subjects: new Set(phrases('caller,customer,user,client,person,they,he,she,who')),
  fillers: new Set(phrases('um,uh,er,erm,ah,oh,hmm,mm,well,so,like,okay so,hey,and,actually,honestly')),
  negators: new Set(phrases('not,never,no,without,neither,nor,none,nothing')),
  notNegated: new Set(
    phrases(
      'i,we,it,that,this,thank,thanks,please,the,my,you,just,not,let,can,could,actually,sorry,wait,he,she,they,sir,madam,no',
    ),
  ),
  turns: new Set(phrases('but,instead,rather,because,however,though,actually')),
  or: new Set(['or', 'nor']),
  and: new Set(['and', 'then']),
  yes: phrases(`yes,yeah,yep,yup,yes please,sure,sure thing,ok,okay,alright,all right,of course,certainly,absolutely,
    definitely,exactly,correct,right,that is right,that is correct,that is fine,that is good,that is ok,that is it exactly,
    sounds good,sounds great,sounds fine,works for me,that works,fine,great,perfect,good,agreed,i agree,i think so,please do,go ahead,no problem,why not,by all means,affirmative,indeed,deal,let us do that,let us do it,
    you are right,very well,lovely,wonderful,excellent,i accept,i confirm`),
  yesAlone: phrases(
    'i do,i am,i would,i have,i did,i was,it is,it does,they are,we are,we do,i will,i can,i want to,i would like to,i would like that,i would love to',
  ),
  yesAnywhere:
    phrases(`yes,yeah,yep,yup,sure,of course,certainly,absolutely,definitely,exactly,that is right,that is correct,
    that is fine,sounds good,sounds great,sounds fine,works for me,that works,go ahead,no problem,agreed,i agree,i accept,
    i confirm,perfect,that is good`),
  no: phrases(`no,nope,nah,no thanks,no thank you,not really,not now,not today,not yet,not at all,of course not,
    certainly not,absolutely not,definitely not,not necessary,no way,negative,never,i do not,i am not,i would not,
    i do not think so,i would rather not,i prefer not,wrong,that is wrong,incorrect`),
  wordsOfConcepts: {
    agree: [
      phrases(`yes,agree,agrees,agreed,accept,accepts,accepted,accepting,confirm,confirms,confirmed,approve,approves,approved,
        affirm,affirms,affirmative,affirmatively,positive,positively,ok,okay,correct,right,fine,consent,consents,sure,happy with`),
      [],
    ],
    decline: [
      phrases(
        'no,decline,declines,declined,refuse,refuses,refused,reject,rejects,rejected,disagree,disagrees,deny,denies,negative,negatively,wrong,incorrect,not correct,not right',
      ),
      phrases('cancel that,cancel it,cancel this,scratch that,forget that,forget it,never mind,nevermind'),
    ],
    done: [
      phrases(
        'that is all,that is it,nothing else,nothing more,done,finished,all set,no more,no further,no other questions,no more questions',
      ),
      phrases(
        'that is all,that is it,nothing else,nothing more,i am done,all set,all good,that would be all,that will be all,no more,we are done,nothing',
      ),
    ],
    goodbye: [
      phrases(
        'goodbye,good bye,bye,hang up,hangs up,end the call,ends the call,end the conversation,say goodbye,farewell',
      ),
      phrases(
        'goodbye,good bye,bye,bye bye,see you,talk to you later,have a nice day,have a good day,good night,take care',
      ),
    ],
    greeting: [
      phrases('greet,greets,greeted,greeting,hello,hi,says hello'),
      phrases('hello,hi,hey,good morning,good afternoon,good evening'),
    ],
    thanks: [phrases('thank,thanks,thanked,grateful'), phrases('thank,thanks,cheers,appreciate it,much appreciated')],
    person: [
      phrases(`person,human,human being,real person,live person,agent,live agent,human agent,representative,operator,someone,
        somebody,staff,receptionist,colleague,supervisor,manager,employee`),
      phrases(`human,human being,real person,actual person,live person,representative,operator,real human,speak to someone,
        talk to someone,speak with someone,talk with someone,speak to somebody,talk to somebody,speak to a person,
        talk to a person,speak with a person,talk with a person,to a person,speak to an agent,talk to an agent,
        speak with an agent,live agent,speak to the manager,receptionist,put me through,customer service,a person please,
        an agent please,speak to your manager,speak to a manager,talk to a manager,supervisor`),
    ],
    repeat: [
      phrases(`not understand,not understood,not hear,not get it,not follow,misunderstand,misunderstands,misunderstood,repeat,
        repeats,repeated,repetition,again,confused,did not catch,say that again,say it again,could not understand,
        could not hear`),
      phrases(`repeat,again,pardon,say that again,not understand,did not understand,not hear,did not hear,did not catch,
        did not get,come again,what did you say,excuse me,i am lost,confused,what was that,sorry what,what do you mean`),
    ],
    unsure: [
      phrases(
        'not know,not sure,unsure,uncertain,hesitate,hesitates,hesitant,undecided,no idea,not certain,not remember',
      ),
      phrases(
        'not know,not sure,unsure,no idea,not certain,maybe,perhaps,let me think,i guess,not remember,hard to say',
      ),
    ],
    wait: [
      phrases('wait,waits,hold,hold on,moment,minute,more time'),
      phrases(
        'wait,hold on,one moment,just a moment,a moment,one second,a second,just a minute,one minute,give me a minute,hang on',
      ),
    ],
    number: [
      phrases('number,numbers,digit,digits,phone number,telephone number,code,pin,figure,amount,quantity,how many'),
      [],
    ],
    keys: [
      phrases('press,presses,pressed,pressing,key,keys,keypad,dial,dials,dialed,dialled,enter,enters,entered'),
      [],
    ],
    date: [phrases('date,dates,day,weekday,day of the week'), []],
    time: [phrases('time,times,time of day,hour'), []],
    'other date': [phrases(OTHER_DATE), phrases(OTHER_DATE)],
    'other time': [phrases(OTHER_TIME), phrases(OTHER_TIME)],
    name: [
      phrases('name,names,full name,first name,last name,surname,their name,identify themselves,who they are'),
      [],
    ],
    email: [phrases('email,e mail,mail address,email address,e mail address'), []],
    details: [phrases('address,details,detail,reason,information,info,problem,issue,data,message,description'), []],
    anything: [
      phrases(
        'anything,anything else,something,something else,any answer,any other,any response,anything at all,whatever,otherwise,other',
      ),
      [],
    ],
    order: [
      phrases('order,orders,buy,purchase,place an order,make an order'),
      phrases(
        'order,buy,purchase,i would like a,i would like an,i would like some,i will have,i will take,can i have,can i get,could i have,could i get,give me,get me,i want a,i want an,i want some',
      ),
    ],
    succeeded: [
      phrases(
        'success,successful,successfully,succeeded,succeeds,succeed,worked,works,completed,went through,was made,was found,found',
      ),
      [],
    ],
    failed: [
      phrases(
        'fail,fails,failed,failure,error,errors,unsuccessful,not successful,not work,did not work,could not,unavailable,not available,not possible,not found,went wrong,impossible',
      ),
      [],
    ],
  },
  synonyms: [
    'book,reserve,schedule,arrange',
    'appointment,reservation,slot',
    'cancel,cancellation,call off,drop',
    'change,move,reschedule,modify,shift,postpone',
    'price,cost,charge,expensive,fee,rate',
    'hours,open,close,closed,opening,closing',
    'address,located,location,directions',
    'delivery,deliver,send,ship,bring',
    'pickup,collect,collection,takeaway,takeout',
    'help,assist,assistance,support',
    'pay,payment,card,cash',
    'bill,invoice,billing',
    'broken,repair,fix,work',
    'earlier,sooner',
    'status,track,tracking',
    'morning,am',
    'afternoon,pm',
  ].map(group => group.split(',')),
  openQuestions: new Set(phrases('what,which,who,where,when,why,how')),
  questions: new Set(phrases('what,which,who,where,when,why,how,can,could,do,does,is,are,will,would')),
  politeness:
    phrases(`yes,yeah,sure,of course,okay,ok,um,uh,well,please,it is,that is,that would be,it would be,i would like,i want,
    i will take,i will have,my name is,the name is,name is,oh,hi,hello,thanks,thank you,so,let us say,make it,make that,
    i think,how about,what about,this is,i would prefer,i prefer,can i have,could i have,can i get,could i get,then,just,
    i need,it will be,for,on,at,to,in`),
}
