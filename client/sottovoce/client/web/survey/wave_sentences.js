/** Sentences about waves and drawn questions, by language and key: they come with what reads waves; the terminal reads them here. */
export const WAVE_SENTENCES = {
  "en": {
    "explain_ask": "Of {private} private questions your device has drawn {asked} for you, by chance; the others are left out.",
    "odds_waves": "Your device draws an answer for each of yes and no once, remembers both, and draws again in each wave: of 100 people whose true answer is yes, {yes} send yes in a wave; of 100 whose answer is no, {no} also send yes. Epsilon covers {waves} waves together.",
    "explain_waves": "This survey is asked {waves} times. Each time you answer again adds epsilon {epsilon}.",
    "error_memo": "This browser has wiped what it drew for all waves of this survey, and does not draw again.",
    "error_memo_other": "What this browser drew for all waves does not fit this version of the survey, and it does not draw again."
  },
  "ar": {
    "explain_ask": "من بين {private} من الأسئلة السرية، اختار جهازك {asked} لك بالصدفة؛ والباقي لا يُسأل.",
    "odds_waves": "يسحب جهازك مرة واحدة إجابة لنعم وإجابة للا، ويتذكر الاثنتين، ثم يسحب من جديد في كل جولة: من بين 100 شخص إجابتهم الحقيقية نعم، يرسل {yes} نعم في الجولة؛ ومن بين 100 إجابتهم لا، يرسل {no} أيضًا نعم. يشمل إبسيلون {waves} من الجولات معًا.",
    "explain_waves": "عدد مرات إجراء هذا الاستبيان: {waves}. وكل مرة تجيب فيها مجددًا تضيف إبسيلون {epsilon}.",
    "error_memo": "مسح هذا المتصفح ما سحبه لكل جولات هذا الاستبيان، ولا يسحب مرة أخرى.",
    "error_memo_other": "ما أجراه هذا المتصفح من قرعة لكل الجولات لا يناسب هذه النسخة من الاستبيان، وهو لا يعيد القرعة."
  },
  "de": {
    "explain_ask": "Von {private} vertraulichen Fragen hat Ihr Gerät {asked} durch Zufall für Sie gezogen; die anderen entfallen.",
    "odds_waves": "Ihr Gerät zieht einmal je eine Antwort für Ja und für Nein, merkt sich beide und zieht in jeder Runde noch einmal: Von 100 Personen, deren wahre Antwort Ja ist, senden {yes} in einer Runde Ja; von 100, deren Antwort Nein ist, senden {no} ebenfalls Ja. Epsilon gilt für {waves} Runden zusammen.",
    "explain_waves": "Diese Umfrage wird {waves} Mal durchgeführt. Jede weitere Runde, in der Sie antworten, kostet Epsilon {epsilon} mehr.",
    "error_memo": "Dieser Browser hat gelöscht, was er für alle Runden dieser Umfrage gezogen hatte, und zieht nicht noch einmal.",
    "error_memo_other": "Was dieser Browser für alle Runden ausgewürfelt hat, passt nicht zu dieser Fassung der Umfrage, und er würfelt nicht noch einmal."
  },
  "es": {
    "explain_ask": "De {private} preguntas confidenciales, su dispositivo ha sorteado {asked} para usted; las demás no se hacen.",
    "odds_waves": "Su dispositivo sortea una vez una respuesta para el sí y otra para el no, recuerda ambas y vuelve a sortear en cada ronda: de 100 personas cuya respuesta verdadera es sí, {yes} envían sí en una ronda; de 100 cuya respuesta es no, {no} también envían sí. Épsilon vale para {waves} rondas juntas.",
    "explain_waves": "Esta encuesta se hace {waves} veces. Cada vez que vuelva a responder se añade épsilon {epsilon}.",
    "error_memo": "Este navegador ha borrado lo que había sorteado para todas las rondas de esta encuesta, y no vuelve a sortear.",
    "error_memo_other": "Lo que este navegador sorteó para todas las rondas no corresponde a esta versión de la encuesta, y no sortea de nuevo."
  },
  "fr": {
    "explain_ask": "Sur {private} questions confidentielles, votre appareil en a tiré {asked} au hasard pour vous ; les autres sont omises.",
    "odds_waves": "Votre appareil tire une fois une réponse pour oui et une pour non, garde les deux, et tire encore à chaque vague : sur 100 personnes dont la vraie réponse est oui, {yes} envoient oui dans une vague ; sur 100 dont la réponse est non, {no} envoient aussi oui. Epsilon vaut pour {waves} vagues ensemble.",
    "explain_waves": "Cette enquête a lieu {waves} fois. Chaque fois que vous répondez de nouveau, cela ajoute epsilon {epsilon}.",
    "error_memo": "Ce navigateur a effacé ce qu’il avait tiré pour toutes les vagues de cette enquête, et ne tire pas une deuxième fois.",
    "error_memo_other": "Ce que ce navigateur a tiré pour toutes les vagues ne convient pas à cette version de l’enquête, et il ne tire pas de nouveau."
  },
  "hi": {
    "explain_ask": "{private} गोपनीय प्रश्नों में से आपके डिवाइस ने {asked} संयोग से चुने हैं; बाकी छोड़ दिए जाते हैं।",
    "odds_waves": "आपका डिवाइस हाँ और नहीं के लिए एक-एक उत्तर निकालकर याद रखता है, और हर दौर में फिर निकालता है: जिन 100 लोगों का सच्चा उत्तर हाँ है, उनमें से {yes} एक दौर में हाँ भेजते हैं; जिन 100 का उत्तर नहीं है, उनमें से {no} भी हाँ भेजते हैं। एप्सिलॉन {waves} दौर एक साथ समेटता है।",
    "explain_waves": "यह सर्वेक्षण {waves} बार किया जाता है। हर नए उत्तर से एप्सिलॉन {epsilon} और जुड़ता है।",
    "error_memo": "इस ब्राउज़र ने सभी दौरों के लिए जो निकाला था वह मिटा दिया है, और यह दोबारा नहीं निकालता।",
    "error_memo_other": "इस ब्राउज़र ने सभी दौरों के लिए जो निकाला था वह इस संस्करण से मेल नहीं खाता, और यह दोबारा नहीं निकालता।"
  },
  "it": {
    "explain_ask": "Di {private} domande private il suo dispositivo ne ha sorteggiate {asked} per lei; le altre sono tralasciate.",
    "odds_waves": "Il suo dispositivo sorteggia una volta una risposta per il sì e una per il no, le ricorda entrambe, e sorteggia di nuovo in ogni ondata: su 100 persone la cui vera risposta è sì, {yes} inviano sì in un’ondata; su 100 la cui risposta è no, anche {no} inviano sì. Epsilon vale per {waves} ondate insieme.",
    "explain_waves": "Questa indagine si svolge {waves} volte. Ogni nuova risposta aggiunge epsilon {epsilon}.",
    "error_memo": "Questo browser ha cancellato ciò che aveva sorteggiato per tutte le ondate di questa indagine, e non sorteggia di nuovo.",
    "error_memo_other": "Ciò che questo browser ha sorteggiato per tutte le ondate non corrisponde a questa versione dell’indagine, e non sorteggia di nuovo."
  },
  "pt": {
    "explain_ask": "De {private} perguntas confidenciais, o seu dispositivo sorteou {asked} para você; as outras ficam de fora.",
    "odds_waves": "O seu dispositivo sorteia uma vez uma resposta para o sim e outra para o não, guarda as duas e sorteia de novo em cada onda: de 100 pessoas cuja resposta verdadeira é sim, {yes} enviam sim em uma onda; de 100 cuja resposta é não, {no} também enviam sim. Épsilon vale para {waves} ondas juntas.",
    "explain_waves": "Esta pesquisa é feita {waves} vezes. Cada vez que você responder de novo acrescenta épsilon {epsilon}.",
    "error_memo": "Este navegador apagou o que tinha sorteado para todas as ondas desta pesquisa e não sorteia de novo.",
    "error_memo_other": "O que este navegador sorteou para todas as ondas não corresponde a esta versão da pesquisa, e ele não sorteia de novo."
  },
  "zh-Hans": {
    "explain_ask": "在 {private} 个保密问题中，您的设备随机抽取了 {asked} 个来问您；其余的不问。",
    "odds_waves": "您的设备为“是”和“否”各抽取一次答案并记住，每一轮再抽取一次：在 100 个真实答案为“是”的人中，每轮有 {yes} 人发送“是”；在 100 个答案为“否”的人中，也有 {no} 人发送“是”。epsilon 涵盖全部 {waves} 轮。",
    "explain_waves": "本调查共进行 {waves} 轮。您每再回答一次，epsilon 就增加 {epsilon}。",
    "error_memo": "这个浏览器已清除为本调查所有轮次抽取的结果，不会再次抽取。",
    "error_memo_other": "此浏览器为所有轮次抽取的内容与此版本的调查不符，并且不会重新抽取。"
  }
};
