/** What the documents of the benchmark are about: a thing that a shop sells and a matter that its customers ask about. */
export interface Thing {
  /** As documents name it. */
  readonly name: string
  /** As a customer may call it, without a word of its name. */
  readonly otherwise: string
}

export interface Matter {
  readonly title: string
  /** What a document says; THING and CODE stand for the name of the thing and the document's own code. */
  readonly says: string
  /** A question with words of the document. */
  readonly asks: string
  /** The same question without them. */
  readonly asksOtherwise: string
}

const THINGS_WRITTEN = `
kettle | pot for boiling water
dishwasher | machine that washes plates
refrigerator | cold cupboard for groceries
oven | stove for baking bread
toaster | gadget that browns slices of bread
blender | smoothie mixer
microwave | appliance that heats leftovers quickly
vacuum cleaner | hoover for carpets
washing machine | laundry appliance
tumble dryer | appliance that dries wet clothes
iron | tool for pressing shirts
sewing machine | device that stitches fabric
bicycle | two-wheeled bike with pedals
scooter | moped
helmet | head protection for riders
tent | camping shelter
sleeping bag | outdoor bedding for camping
rucksack | backpack
umbrella | brolly against rain
suitcase | luggage for travel
piano | keyboard instrument
violin | fiddle
guitar | six-string instrument
drum kit | percussion set
trumpet | brass horn
laptop | notebook computer
printer | device that puts pages on paper
headphones | earphones
television | TV screen
loudspeaker | stereo boxes
camera | device for taking photographs
telescope | instrument for watching stars
microscope | instrument that magnifies cells
thermometer | gauge of temperature
mattress | bed padding to lie on
armchair | cushioned seat
wardrobe | closet for clothes
bookshelf | rack for novels
desk | work table for the office
lamp | light for reading
lawnmower | grass cutter
hedge trimmer | shears for bushes
watering can | sprinkler for flowers
ladder | steps for climbing
drill | tool that bores holes
hammer | tool that drives nails
saw | blade for cutting wood
pram | pushchair for a baby
aquarium | fish tank
dog kennel | hut for a puppy
`

const MATTERS_WRITTEN = `
Warranty | The warranty of the THING covers faults of material for three years from the date of the receipt. Form CODE begins a claim. | How long is the warranty of the THING? | For what period does the maker answer for defects of the THING?
Refunds | A refund for the THING is paid within ten days to the card that was used. The refund form is CODE. | When is the refund for a THING paid? | How soon do I get my money back for the THING?
Returns | An unused THING can be returned within thirty days in its box, with the label CODE. | Can I return a THING that is unused? | May I send back the THING that I did not open?
Delivery | Delivery of the THING takes two to four working days; the carrier asks for the reference CODE. | How many days does delivery of the THING take? | When will the THING that I ordered arrive at my house?
Assembly | Assembly of the THING takes half an hour and follows the drawings of booklet CODE. | How long does assembly of the THING take? | How do I put the parts of the THING together?
Cleaning | Wipe the THING with a damp cloth and a mild soap. Agent CODE removes stubborn stains. | How should I wipe stains from the THING? | What is the best way to get dirt off the THING?
Noise | A THING that rattles usually stands unevenly. If the noise stays after levelling, order the damper CODE. | What stops a THING that rattles? | Why is the THING so loud?
Spare parts | Spare parts of the THING are kept in stock for ten years under the number CODE. | Are spare parts of the THING in stock? | Where do I find a replacement piece for the THING?
Repair | A repair of the THING is done in our workshop within a week; hand it in with ticket CODE. | How long does a repair of the THING take in the workshop? | Somebody has to fix my broken THING, how long is it gone?
Recall | The THING of lot CODE has been recalled because its handle can come loose; stop using it. | Which lot of the THING was recalled? | Is it dangerous to go on using the THING?
Colours | The THING is made in black, white and olive; the olive finish has the article CODE. | In which finish is the THING made? | Do you have the THING in green?
Dimensions | The THING with its packaging measures as drawn on sheet CODE; allow a hand's width around it. | What does the THING with packaging measure? | How big is the THING, will it fit in my room?
Weight | The weight of the THING is printed on plate CODE under it; two people should lift it. | What is the weight of the THING? | How heavy is the THING to carry?
Battery | The battery of the THING is of the type CODE and lasts about five hundred cycles. | Which type of battery is in the THING? | Which power cell do I have to buy for the THING?
Children | The THING is not suitable for children below three years; norm CODE requires this notice. | Is the THING suitable for children? | Can my toddler play with the THING?
Disposal | An old THING is taken to the recycling yard free of charge; note CODE on the slip. | Where is an old THING taken for recycling? | How do I throw away my worn-out THING?
Insurance | Insurance for the THING against theft costs four per cent of its price; tariff CODE applies. | What does insurance for the THING against theft cost? | What happens if a burglar takes the THING?
Instalments | The THING can be paid in twelve monthly instalments without interest; plan CODE. | Can the THING be paid in monthly instalments? | Can I spread the price of the THING over a year?
Discounts | Students get a discount of eight per cent on the THING with the voucher CODE. | Is there a discount for students on the THING? | Is the THING cheaper for young people at university?
Gift wrapping | Gift wrapping of the THING is ordered at the till with the option CODE. | Is gift wrapping of the THING possible? | Could you make the THING look nice as a birthday present?
Storage | Store the THING dry and away from frost, under the cover CODE. | Should the THING be stored dry? | Where do I keep the THING in winter?
Manual | The manual of the THING is printed in four languages as booklet CODE. | In which languages is the manual of the THING printed? | I lost the instructions of the THING, what can I do?
Registration | Registration of the THING on our page adds a year; enter the serial CODE. | What does registration of the THING add? | Should I sign up online after buying the THING?
Rental | The THING can be rented for a week; the deposit follows list CODE. | Can the THING be rented for a week? | Can I borrow the THING for my holidays without buying it?
Trade-in | A used THING is taken in exchange for a new one at the rate of table CODE. | Is a used THING taken in exchange? | What do you give me for my second-hand THING?
Showroom | The THING stands in the showroom on the second floor, at sign CODE. | On which floor of the showroom is the THING? | May I see and touch the THING before I pay?
Opening the box | Cut the straps of the THING's box and lift it out by the loops CODE. | How do I open the box of the THING? | How do I unpack the THING?
Rust | Rust on the THING is removed with steel wool and sealed with lacquer CODE. | How is rust on the THING removed? | The metal of the THING turned brown and flaky, what now?
Smell | A new THING may smell for some days; air the room, or use filter CODE. | How long may a new THING smell? | There is an unpleasant odour from the THING.
Overheating | A THING that overheats switches itself off; let it cool, and reset it with key CODE. | What if the THING overheats? | The THING got too hot and went dead.
Leaks | A leak at the THING comes from a worn seal; the seal has the number CODE. | Where does a leak at the THING come from? | Drops of fluid escape from the THING.
Scratches | Scratches on the THING are polished out with paste CODE. | How are scratches on the THING polished out? | The surface of the THING has marks from my keys.
Upgrades | An upgrade kit for the THING with the name CODE comes out in spring. | When does the upgrade kit for the THING come out? | Can I make my THING more modern?
Training | A course on the use of the THING is held each month under the number CODE. | When is a course on the use of the THING held? | Is there somebody who teaches beginners to handle the THING?
Accessories | Accessories of the THING, such as bags and hooks, are listed in leaflet CODE. | Which accessories of the THING are listed? | What extras can I get with the THING?
Origin | The THING is built in Portugal; the plant has the sign CODE. | Where is the THING built? | Which country does the THING come from?
Testing | Each THING is tested for an hour before it leaves the plant; record CODE. | For how long is each THING tested? | How do you make sure that the THING works?
Energy | The energy use of the THING is on label CODE; it is among the thriftiest. | What is the energy use of the THING? | Will the THING raise my electricity bill?
Complaints | Complaints about the THING are answered within three days; quote CODE. | When are complaints about the THING answered? | I am angry about the THING, who listens to me?
Availability | The THING is available again from the first of the month; reserve it with CODE. | When is the THING available again? | The THING is sold out, how long do I have to wait?
`

function table<Row>(written: string, row: (cells: readonly string[]) => Row): readonly Row[] {
  return written
    .trim()
    .split('\n')
    .map(line => row(line.split('|').map(cell => cell.trim())))
}

export const THINGS: readonly Thing[] = table(THINGS_WRITTEN, ([name = '', otherwise = '']) => ({ name, otherwise }))

export const MATTERS: readonly Matter[] = table(
  MATTERS_WRITTEN,
  ([title = '', says = '', asks = '', asksOtherwise = '']) => ({ title, says, asks, asksOtherwise }),
)
