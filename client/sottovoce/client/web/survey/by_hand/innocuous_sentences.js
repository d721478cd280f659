/** Sentences about answers that a fact of the person's own hides, by language and key: they come with what reads them. */
export const INNOCUOUS_SENTENCES = {
  "en": {
    "crosswise_same": "Both or neither are true",
    "crosswise_one": "Exactly one is true",
    "crosswise_second": "Compare the statement above with this second one:",
    "crosswise_how": "Do not choose which of them are true of you. Choose only whether both or neither are true, or exactly one.",
    "unrelated_die": "Throw a die where no one sees it. On {outcome}: answer the question above. On any other number: answer this one instead:",
    "innocuous_note": "Nothing is drawn by this device. What you choose is sent exactly so, and the second statement hides your answer.",
    "how_innocuous": "Where a question has a second statement, nothing is drawn by this device: that statement hides your answer, as long as no one who sees what you send knows whether it is true of you.",
    "receipt_innocuous": "Where a question had a second statement, nothing was drawn by this device: what you chose was sent, and that statement hides your answer.",
    "odds_crosswise": "Nothing is drawn by this device. Of 100 people of whom the first statement is true, {yes} choose “Exactly one is true”; of 100 others, {no}. This protects you as long as no one who sees what you send knows whether the second statement is true of you.",
    "odds_unrelated_question": "Nothing is drawn by this device. By the die and the second question, of 100 people whose true answer is yes, {yes} choose yes; of 100 whose answer is no, {no} also choose yes. This protects you as long as no one who sees what you send knows your die or your answer to the second question."
  },
  "ar": {
    "crosswise_same": "كلتاهما صحيحة أو لا واحدة منهما",
    "crosswise_one": "واحدة منهما فقط صحيحة",
    "crosswise_second": "قارن العبارة أعلاه بهذه العبارة الثانية:",
    "crosswise_how": "لا تختر أيهما تنطبق عليك. اختر فقط: كلتاهما صحيحة أو لا واحدة منهما، أو واحدة منهما فقط.",
    "unrelated_die": "ارمِ نردًا حيث لا يراه أحد. إذا ظهر {outcome}: أجب عن السؤال أعلاه. مع أي رقم آخر: أجب عن هذا السؤال بدلًا منه:",
    "innocuous_note": "لا يسحب هذا الجهاز شيئًا. يُرسل ما تختاره كما هو تمامًا، والعبارة الثانية تخفي إجابتك.",
    "how_innocuous": "حين تكون للسؤال عبارة ثانية، لا يسحب هذا الجهاز شيئًا: تلك العبارة تخفي إجابتك ما دام لا أحد ممن يرى ما ترسله يعرف إن كانت تنطبق عليك.",
    "receipt_innocuous": "حين كانت للسؤال عبارة ثانية، لم يسحب هذا الجهاز شيئًا: أُرسل ما اخترته، وتلك العبارة تخفي إجابتك.",
    "odds_crosswise": "لا يسحب هذا الجهاز شيئًا. من بين 100 شخص تنطبق عليهم العبارة الأولى، يختار {yes} «واحدة منهما فقط صحيحة»؛ ومن بين 100 آخرين، {no}. هذا يحميك ما دام لا أحد ممن يرى ما ترسله يعرف إن كانت العبارة الثانية تنطبق عليك.",
    "odds_unrelated_question": "لا يسحب هذا الجهاز شيئًا. بفعل النرد والسؤال الثاني، من بين 100 شخص إجابتهم الحقيقية نعم، يختار {yes} نعم؛ ومن بين 100 إجابتهم لا، يختار {no} أيضًا نعم. هذا يحميك ما دام لا أحد ممن يرى ما ترسله يعرف رميتك أو إجابتك عن السؤال الثاني."
  },
  "de": {
    "crosswise_same": "Beide oder keine treffen zu",
    "crosswise_one": "Genau eine trifft zu",
    "crosswise_second": "Vergleichen Sie die Aussage oben mit dieser zweiten:",
    "crosswise_how": "Wählen Sie nicht, welche davon auf Sie zutreffen. Wählen Sie nur, ob beide oder keine zutreffen oder genau eine.",
    "unrelated_die": "Werfen Sie einen Würfel, wo niemand ihn sieht. Bei {outcome}: Beantworten Sie die Frage oben. Bei jeder anderen Zahl: Beantworten Sie stattdessen diese:",
    "innocuous_note": "Dieses Gerät lost nichts aus. Was Sie wählen, wird genau so gesendet, und die zweite Aussage verbirgt Ihre Antwort.",
    "how_innocuous": "Wo eine Frage eine zweite Aussage hat, lost dieses Gerät nichts aus: Diese Aussage verbirgt Ihre Antwort, solange niemand, der das Gesendete sieht, weiß, ob sie auf Sie zutrifft.",
    "receipt_innocuous": "Wo eine Frage eine zweite Aussage hatte, hat dieses Gerät nichts ausgelost: Gesendet wurde, was Sie gewählt haben, und diese Aussage verbirgt Ihre Antwort.",
    "odds_crosswise": "Dieses Gerät lost nichts aus. Von 100 Menschen, auf die die erste Aussage zutrifft, wählen {yes} „Genau eine trifft zu“; von 100 anderen {no}. Das schützt Sie, solange niemand, der das Gesendete sieht, weiß, ob die zweite Aussage auf Sie zutrifft.",
    "odds_unrelated_question": "Dieses Gerät lost nichts aus. Durch den Würfel und die zweite Frage wählen von 100 Menschen, deren wahre Antwort Ja ist, {yes} Ja; von 100, deren Antwort Nein ist, wählen {no} ebenfalls Ja. Das schützt Sie, solange niemand, der das Gesendete sieht, Ihren Wurf oder Ihre Antwort auf die zweite Frage kennt."
  },
  "es": {
    "crosswise_same": "Ambas son verdaderas, o ninguna",
    "crosswise_one": "Exactamente una es verdadera",
    "crosswise_second": "Compare la afirmación de arriba con esta segunda:",
    "crosswise_how": "No elija cuáles son verdaderas para usted. Elija solo si ambas o ninguna son verdaderas, o exactamente una.",
    "unrelated_die": "Lance un dado donde nadie lo vea. Si sale {outcome}: responda a la pregunta de arriba. Con cualquier otro número: responda en su lugar a esta:",
    "innocuous_note": "Este dispositivo no sortea nada. Lo que elija se envía tal cual, y la segunda afirmación oculta su respuesta.",
    "how_innocuous": "Cuando una pregunta tiene una segunda afirmación, este dispositivo no sortea nada: esa afirmación oculta su respuesta mientras nadie que vea lo que envía sepa si es verdadera para usted.",
    "receipt_innocuous": "Cuando una pregunta tenía una segunda afirmación, este dispositivo no sorteó nada: se envió lo que eligió, y esa afirmación oculta su respuesta.",
    "odds_crosswise": "Este dispositivo no sortea nada. De 100 personas para quienes la primera afirmación es verdadera, {yes} eligen «Exactamente una es verdadera»; de otras 100, {no}. Esto le protege mientras nadie que vea lo que envía sepa si la segunda afirmación es verdadera para usted.",
    "odds_unrelated_question": "Este dispositivo no sortea nada. Por el dado y la segunda pregunta, de 100 personas cuya respuesta verdadera es sí, {yes} eligen sí; de 100 cuya respuesta es no, {no} también eligen sí. Esto le protege mientras nadie que vea lo que envía conozca su dado o su respuesta a la segunda pregunta."
  },
  "fr": {
    "crosswise_same": "Les deux sont vraies, ou aucune",
    "crosswise_one": "Une seule est vraie",
    "crosswise_second": "Comparez l’affirmation ci-dessus avec cette seconde :",
    "crosswise_how": "Ne dites pas lesquelles sont vraies pour vous. Choisissez seulement si les deux sont vraies ou aucune, ou si une seule l’est.",
    "unrelated_die": "Lancez un dé là où personne ne le voit. Si vous obtenez {outcome} : répondez à la question ci-dessus. Pour tout autre nombre : répondez plutôt à celle-ci :",
    "innocuous_note": "Cet appareil ne tire rien au sort. Ce que vous choisissez est envoyé tel quel, et la seconde affirmation cache votre réponse.",
    "how_innocuous": "Quand une question a une seconde affirmation, cet appareil ne tire rien au sort : cette affirmation cache votre réponse, tant que personne qui voit ce que vous envoyez ne sait si elle est vraie pour vous.",
    "receipt_innocuous": "Quand une question avait une seconde affirmation, cet appareil n’a rien tiré au sort : ce que vous avez choisi a été envoyé, et cette affirmation cache votre réponse.",
    "odds_crosswise": "Cet appareil ne tire rien au sort. Sur 100 personnes pour qui la première affirmation est vraie, {yes} choisissent « Une seule est vraie » ; sur 100 autres, {no}. Cela vous protège tant que personne qui voit ce que vous envoyez ne sait si la seconde affirmation est vraie pour vous.",
    "odds_unrelated_question": "Cet appareil ne tire rien au sort. Par le dé et la seconde question, sur 100 personnes dont la vraie réponse est oui, {yes} choisissent oui ; sur 100 dont la réponse est non, {no} choisissent aussi oui. Cela vous protège tant que personne qui voit ce que vous envoyez ne connaît votre dé ou votre réponse à la seconde question."
  },
  "hi": {
    "crosswise_same": "दोनों सच हैं या कोई नहीं",
    "crosswise_one": "ठीक एक सच है",
    "crosswise_second": "ऊपर के कथन की तुलना इस दूसरे कथन से करें:",
    "crosswise_how": "यह न चुनें कि आपके लिए कौन से कथन सच हैं। केवल यह चुनें कि दोनों सच हैं या कोई नहीं, या ठीक एक।",
    "unrelated_die": "एक पासा वहाँ फेंकें जहाँ कोई न देखे। {outcome} आने पर: ऊपर के प्रश्न का उत्तर दें। कोई और संख्या आने पर: उसकी जगह इसका उत्तर दें:",
    "innocuous_note": "यह डिवाइस कुछ नहीं निकालता। आप जो चुनते हैं वह ठीक वैसे ही भेजा जाता है, और दूसरा कथन आपका उत्तर छिपाता है।",
    "how_innocuous": "जिस प्रश्न में दूसरा कथन है, वहाँ यह डिवाइस कुछ नहीं निकालता: वह कथन आपका उत्तर छिपाता है, जब तक भेजा हुआ देखने वाला कोई यह न जानता हो कि वह आपके लिए सच है या नहीं।",
    "receipt_innocuous": "जिस प्रश्न में दूसरा कथन था, वहाँ इस डिवाइस ने कुछ नहीं निकाला: आपने जो चुना वही भेजा गया, और वह कथन आपका उत्तर छिपाता है।",
    "odds_crosswise": "यह डिवाइस कुछ नहीं निकालता। जिन 100 लोगों के लिए पहला कथन सच है, उनमें से {yes} “ठीक एक सच है” चुनते हैं; बाकी 100 में से {no}। यह आपको बचाता है, जब तक भेजा हुआ देखने वाला कोई यह न जानता हो कि दूसरा कथन आपके लिए सच है या नहीं।",
    "odds_unrelated_question": "यह डिवाइस कुछ नहीं निकालता। पासे और दूसरे प्रश्न से, जिन 100 लोगों का सच्चा उत्तर हाँ है, उनमें से {yes} हाँ चुनते हैं; जिन 100 का उत्तर नहीं है, उनमें से {no} भी हाँ चुनते हैं। यह आपको बचाता है, जब तक भेजा हुआ देखने वाला कोई आपका पासा या दूसरे प्रश्न का आपका उत्तर न जानता हो।"
  },
  "it": {
    "crosswise_same": "Entrambe vere o nessuna delle due",
    "crosswise_one": "Esattamente una è vera",
    "crosswise_second": "Confronti l’affermazione qui sopra con questa seconda:",
    "crosswise_how": "Non scelga quali siano vere per lei. Scelga solo se sono vere entrambe o nessuna delle due, oppure esattamente una.",
    "unrelated_die": "Lanci un dado dove nessuno lo vede. Con {outcome}: risponda alla domanda qui sopra. Con qualsiasi altro numero: risponda invece a questa:",
    "innocuous_note": "Questo dispositivo non sorteggia nulla. Ciò che sceglie è inviato esattamente così, e la seconda affermazione nasconde la sua risposta.",
    "how_innocuous": "Dove una domanda ha una seconda affermazione, questo dispositivo non sorteggia nulla: quell’affermazione nasconde la sua risposta, finché nessuno di coloro che vedono ciò che invia sa se è vera per lei.",
    "receipt_innocuous": "Dove una domanda aveva una seconda affermazione, questo dispositivo non ha sorteggiato nulla: ciò che ha scelto è stato inviato, e quell’affermazione nasconde la sua risposta.",
    "odds_crosswise": "Questo dispositivo non sorteggia nulla. Su 100 persone per cui la prima affermazione è vera, {yes} scelgono «Esattamente una è vera»; su 100 altre, {no}. Questo la protegge finché nessuno di coloro che vedono ciò che invia sa se la seconda affermazione è vera per lei.",
    "odds_unrelated_question": "Questo dispositivo non sorteggia nulla. Con il dado e la seconda domanda, su 100 persone la cui vera risposta è sì, {yes} scelgono sì; su 100 la cui risposta è no, anche {no} scelgono sì. Questo la protegge finché nessuno di coloro che vedono ciò che invia conosce il suo dado o la sua risposta alla seconda domanda."
  },
  "pt": {
    "crosswise_same": "Ambas são verdadeiras, ou nenhuma",
    "crosswise_one": "Exatamente uma é verdadeira",
    "crosswise_second": "Compare a afirmação acima com esta segunda:",
    "crosswise_how": "Não escolha quais são verdadeiras para você. Escolha apenas se ambas ou nenhuma são verdadeiras, ou exatamente uma.",
    "unrelated_die": "Lance um dado onde ninguém veja. Se sair {outcome}: responda à pergunta acima. Com qualquer outro número: responda a esta no lugar dela:",
    "innocuous_note": "Este dispositivo não sorteia nada. O que você escolher é enviado exatamente assim, e a segunda afirmação esconde a sua resposta.",
    "how_innocuous": "Quando uma pergunta tem uma segunda afirmação, este dispositivo não sorteia nada: essa afirmação esconde a sua resposta enquanto ninguém que veja o que você envia souber se ela é verdadeira para você.",
    "receipt_innocuous": "Quando uma pergunta tinha uma segunda afirmação, este dispositivo não sorteou nada: o que você escolheu foi enviado, e essa afirmação esconde a sua resposta.",
    "odds_crosswise": "Este dispositivo não sorteia nada. De 100 pessoas para quem a primeira afirmação é verdadeira, {yes} escolhem “Exatamente uma é verdadeira”; de outras 100, {no}. Isto protege você enquanto ninguém que veja o que você envia souber se a segunda afirmação é verdadeira para você.",
    "odds_unrelated_question": "Este dispositivo não sorteia nada. Pelo dado e pela segunda pergunta, de 100 pessoas cuja resposta verdadeira é sim, {yes} escolhem sim; de 100 cuja resposta é não, {no} também escolhem sim. Isto protege você enquanto ninguém que veja o que você envia conhecer o seu dado ou a sua resposta à segunda pergunta."
  },
  "zh-Hans": {
    "crosswise_same": "两句都对或都不对",
    "crosswise_one": "恰好一句对",
    "crosswise_second": "请将上面的陈述与下面第二句比较：",
    "crosswise_how": "不要选择哪一句符合您。只选择：两句都对或都不对，还是恰好一句对。",
    "unrelated_die": "请在没有人看到的地方掷一次骰子。掷出 {outcome}：回答上面的问题。掷出其他数字：改为回答这个问题：",
    "innocuous_note": "此设备不抽取任何内容。您的选择会原样发送，第二句隐藏了您的回答。",
    "how_innocuous": "带有第二句陈述的问题，此设备不抽取任何内容：只要看到所发内容的人都不知道那一句是否符合您，它就隐藏了您的回答。",
    "receipt_innocuous": "带有第二句陈述的问题，此设备没有抽取任何内容：发送的是您的选择，那一句隐藏了您的回答。",
    "odds_crosswise": "此设备不抽取任何内容。第一句符合的 100 人中，{yes} 人选择“恰好一句对”；其他 100 人中，{no} 人这样选。只要看到所发内容的人都不知道第二句是否符合您，您就受到保护。",
    "odds_unrelated_question": "此设备不抽取任何内容。由于骰子和第二个问题，真实回答为“是”的 100 人中，{yes} 人选择“是”；回答为“否”的 100 人中，也有 {no} 人选择“是”。只要看到所发内容的人都不知道您掷出的点数或您对第二个问题的回答，您就受到保护。"
  }
};
