/** Sentences about blocks, by language and key: they come with the part that reads blocks. */
export const BLOCK_SENTENCES = {
  "en": {
    "odds_together_yes_no": "{questions} answers are randomized together: of 100 people with the same answers as you, {all} send exactly these. Of each alone: of 100 people whose true answer is yes, {yes} send yes; of 100 whose answer is no, {no} also send yes.",
    "odds_together_option": "{questions} answers are randomized together: of 100 people with the same answers as you, {all} send exactly these. Of this one alone: of 100 people who choose the same answer, {own} send that answer; each other answer is sent by {other}.",
    "belief_one_together": "Someone who thinks something about you 10% likely thinks it at most {one}% likely after your answers, even if they know all but one of them.",
    "belief_all_together": "Someone who thinks something about you 10% likely thinks it at most {one}% likely after the answers sent together, even if they know all but one of them, {all}% after all."
  },
  "ar": {
    "odds_together_yes_no": "عدد الإجابات التي تتغيّر معًا: {questions}. من بين 100 شخص لهم إجاباتك نفسها، يرسل {all} منهم هذه الإجابات تمامًا. ولكل إجابة وحدها: من بين 100 شخص إجابتهم الحقيقية نعم، يرسل {yes} منهم نعم؛ ومن بين 100 إجابتهم لا، يرسل {no} منهم نعم أيضًا.",
    "odds_together_option": "عدد الإجابات التي تتغيّر معًا: {questions}. من بين 100 شخص لهم إجاباتك نفسها، يرسل {all} منهم هذه الإجابات تمامًا. ولهذه الإجابة وحدها: من بين 100 شخص يختارون الإجابة نفسها، يرسل {own} منهم تلك الإجابة؛ ويرسل {other} منهم كل إجابة من الإجابات الأخرى.",
    "belief_one_together": "من يظن أمرًا عنك باحتمال 10 % يظنه باحتمال {one} % على الأكثر بعد إجاباتك، حتى لو عرفها كلها إلا واحدة.",
    "belief_all_together": "من يظن أمرًا عنك باحتمال 10 % يظنه باحتمال {one} % على الأكثر بعد الإجابات المرسلة معًا، حتى لو عرفها كلها إلا واحدة، و{all} % بعد كل الإجابات."
  },
  "de": {
    "odds_together_yes_no": "{questions} Antworten werden zusammen zufällig verändert: Von 100 Menschen mit denselben Antworten wie Sie senden {all} genau diese. Für jede allein: Von 100 Menschen, deren wahre Antwort Ja ist, senden {yes} Ja; von 100, deren Antwort Nein ist, senden {no} ebenfalls Ja.",
    "odds_together_option": "{questions} Antworten werden zusammen zufällig verändert: Von 100 Menschen mit denselben Antworten wie Sie senden {all} genau diese. Für diese allein: Von 100 Menschen, die dieselbe Antwort wählen, senden {own} diese Antwort; jede andere Antwort wird von {other} gesendet.",
    "belief_one_together": "Wer etwas über Sie für 10 % wahrscheinlich hält, hält es nach Ihren Antworten für höchstens {one} % wahrscheinlich, auch wer alle außer einer kennt.",
    "belief_all_together": "Wer etwas über Sie für 10 % wahrscheinlich hält, hält es nach den gemeinsam gesendeten Antworten für höchstens {one} % wahrscheinlich, auch wer alle außer einer kennt, nach allen für {all} %."
  },
  "es": {
    "odds_together_yes_no": "{questions} respuestas se modifican juntas al azar: de 100 personas con las mismas respuestas que usted, {all} envían exactamente estas. De cada una por separado: de 100 personas cuya respuesta verdadera es sí, {yes} envían sí; de 100 cuya respuesta es no, {no} también envían sí.",
    "odds_together_option": "{questions} respuestas se modifican juntas al azar: de 100 personas con las mismas respuestas que usted, {all} envían exactamente estas. De esta por separado: de 100 personas que eligen la misma respuesta, {own} envían esa respuesta; cada una de las demás respuestas la envían {other}.",
    "belief_one_together": "Quien da un 10 % de probabilidad a algo sobre usted le da, como máximo, un {one} % tras sus respuestas, aunque las conozca todas menos una.",
    "belief_all_together": "Quien da un 10 % de probabilidad a algo sobre usted le da, como máximo, un {one} % tras las respuestas enviadas juntas, aunque las conozca todas menos una, y un {all} % tras todas."
  },
  "fr": {
    "odds_together_yes_no": "{questions} réponses sont modifiées ensemble au hasard : sur 100 personnes ayant les mêmes réponses que vous, {all} envoient exactement celles-ci. Pour chacune seule : sur 100 personnes dont la vraie réponse est oui, {yes} envoient oui ; sur 100 dont la réponse est non, {no} envoient aussi oui.",
    "odds_together_option": "{questions} réponses sont modifiées ensemble au hasard : sur 100 personnes ayant les mêmes réponses que vous, {all} envoient exactement celles-ci. Pour celle-ci seule : sur 100 personnes qui choisissent la même réponse, {own} envoient cette réponse ; chacune des autres réponses est envoyée par {other}.",
    "belief_one_together": "Quelqu’un qui estime à 10 % la probabilité d’une chose sur vous l’estime à {one} % au plus après vos réponses, même s’il les connaît toutes sauf une.",
    "belief_all_together": "Quelqu’un qui estime à 10 % la probabilité d’une chose sur vous l’estime à {one} % au plus après les réponses envoyées ensemble, même s’il les connaît toutes sauf une, à {all} % après toutes."
  },
  "hi": {
    "odds_together_yes_no": "{questions} उत्तर एक साथ संयोग से बदले जाते हैं: आपके जैसे ही उत्तर वाले 100 लोगों में से {all} ठीक यही भेजते हैं। हर उत्तर अकेले: जिन 100 लोगों का सच्चा उत्तर हाँ है, उनमें से {yes} हाँ भेजते हैं; जिन 100 का उत्तर नहीं है, उनमें से {no} भी हाँ भेजते हैं।",
    "odds_together_option": "{questions} उत्तर एक साथ संयोग से बदले जाते हैं: आपके जैसे ही उत्तर वाले 100 लोगों में से {all} ठीक यही भेजते हैं। यह उत्तर अकेले: एक ही उत्तर चुनने वाले 100 लोगों में से {own} वही उत्तर भेजते हैं; बाकी हर उत्तर {other} लोग भेजते हैं।",
    "belief_one_together": "जो आपके बारे में किसी बात को 10 % संभव मानता है, वह आपके उत्तरों के बाद उसे अधिकतम {one} % मानता है, भले ही वह एक को छोड़ सब उत्तर जानता हो।",
    "belief_all_together": "जो आपके बारे में किसी बात को 10 % संभव मानता है, वह एक साथ भेजे उत्तरों के बाद उसे अधिकतम {one} % मानता है, भले ही वह एक को छोड़ सब जानता हो, और सभी के बाद {all} %।"
  },
  "it": {
    "odds_together_yes_no": "{questions} risposte sono randomizzate insieme: su 100 persone con le sue stesse risposte, {all} inviano esattamente queste. Di ciascuna da sola: su 100 persone la cui vera risposta è sì, {yes} inviano sì; su 100 la cui risposta è no, anche {no} inviano sì.",
    "odds_together_option": "{questions} risposte sono randomizzate insieme: su 100 persone con le sue stesse risposte, {all} inviano esattamente queste. Di questa da sola: su 100 persone che scelgono la stessa risposta, {own} inviano quella risposta; ogni altra risposta è inviata da {other}.",
    "belief_one_together": "Chi ritiene qualcosa su di lei probabile al 10% lo ritiene al massimo probabile al {one}% dopo le sue risposte, anche se le conosce tutte tranne una.",
    "belief_all_together": "Chi ritiene qualcosa su di lei probabile al 10% lo ritiene al massimo probabile al {one}% dopo le risposte inviate insieme, anche se le conosce tutte tranne una, e al {all}% dopo tutte."
  },
  "pt": {
    "odds_together_yes_no": "{questions} respostas são alteradas juntas ao acaso: de 100 pessoas com as mesmas respostas que você, {all} enviam exatamente estas. De cada uma sozinha: de 100 pessoas cuja resposta verdadeira é sim, {yes} enviam sim; de 100 cuja resposta é não, {no} também enviam sim.",
    "odds_together_option": "{questions} respostas são alteradas juntas ao acaso: de 100 pessoas com as mesmas respostas que você, {all} enviam exatamente estas. Desta sozinha: de 100 pessoas que escolhem a mesma resposta, {own} enviam essa resposta; cada uma das outras respostas é enviada por {other}.",
    "belief_one_together": "Quem dá 10 % de chance a algo sobre você dá, no máximo, {one} % depois das suas respostas, mesmo que conheça todas menos uma.",
    "belief_all_together": "Quem dá 10 % de chance a algo sobre você dá, no máximo, {one} % depois das respostas enviadas juntas, mesmo que conheça todas menos uma, e {all} % depois de todas."
  },
  "zh-Hans": {
    "odds_together_yes_no": "{questions} 个回答一起被随机改动：与您回答完全相同的 100 人中，{all} 人发送的正是这些回答。单看每个回答：真实回答为“是”的 100 人中，{yes} 人发送“是”；回答为“否”的 100 人中，也有 {no} 人发送“是”。",
    "odds_together_option": "{questions} 个回答一起被随机改动：与您回答完全相同的 100 人中，{all} 人发送的正是这些回答。单看这个回答：选择同一回答的 100 人中，{own} 人发送这个回答；其他每个回答各由 {other} 人发送。",
    "belief_one_together": "某人认为关于您的某事有 10 % 可能，看到您的回答后最多认为 {one} %，即使他知道除一个以外的所有回答。",
    "belief_all_together": "某人认为关于您的某事有 10 % 可能，看到一起发送的回答后最多认为 {one} %，即使他知道其中除一个以外的所有回答；看到全部后最多 {all} %。"
  }
};
