/** Sentences about random arms, by language and key: they come with the part that reads arms; the terminal reads them here. */
export const ARM_SENTENCES = {
  "en": {
    "arm_label": "Group drawn by chance",
    "explain_arms": "Depending on chance, some questions are sent as you answer them and some are randomized; each question says which.",
    "arm_direct": "Chance has decided: your answers to these questions are sent as you give them. The researchers see how many people gave each answer, however few.",
    "arm_randomized": "Chance has decided: your device randomizes your answers to these questions before they are sent.",
    "arm_mixed": "Chance has decided: some of your answers are sent as you give them and some are randomized; each question says which. Of what is sent as you give it, the researchers see how many people gave each answer, however few."
  },
  "ar": {
    "arm_label": "مجموعة اختيرت بالصدفة",
    "explain_arms": "بحسب الصدفة تُرسل بعض الأسئلة كما تجيب عنها ويُغيَّر بعضها عشوائيًا؛ وكل سؤال يذكر ذلك.",
    "arm_direct": "قررت الصدفة: تُرسل إجاباتك عن هذه الأسئلة كما تعطيها. ويرى الباحثون عدد من أعطى كل إجابة، مهما قلّ.",
    "arm_randomized": "قررت الصدفة: يغيّر جهازك إجاباتك عن هذه الأسئلة عشوائيًا قبل إرسالها.",
    "arm_mixed": "قررت الصدفة: تُرسل بعض إجاباتك كما تعطيها ويُغيَّر بعضها عشوائيًا؛ وكل سؤال يذكر ذلك. ويرى الباحثون، فيما يُرسل كما هو، عدد من أعطى كل إجابة، مهما قلّ."
  },
  "de": {
    "arm_label": "Zufällig geloste Gruppe",
    "explain_arms": "Je nach Zufall werden manche Fragen so gesendet, wie Sie antworten, und manche zufällig verändert; bei jeder Frage steht, welches von beiden.",
    "arm_direct": "Der Zufall hat entschieden: Ihre Antworten auf diese Fragen werden so gesendet, wie Sie sie geben. Die Forschenden sehen, wie viele Menschen jede Antwort gaben, auch wenn es nur wenige sind.",
    "arm_randomized": "Der Zufall hat entschieden: Ihr Gerät verändert Ihre Antworten auf diese Fragen zufällig, bevor sie gesendet werden.",
    "arm_mixed": "Der Zufall hat entschieden: Manche Ihrer Antworten werden so gesendet, wie Sie sie geben, und manche zufällig verändert; bei jeder Frage steht, welches von beiden. Von unverändert gesendeten Antworten sehen die Forschenden, wie viele Menschen sie gaben, auch wenn es nur wenige sind."
  },
  "es": {
    "arm_label": "Grupo elegido al azar",
    "explain_arms": "Según el azar, algunas preguntas se envían tal como las responde y otras se modifican al azar; cada pregunta dice cuál es el caso.",
    "arm_direct": "El azar ha decidido: sus respuestas a estas preguntas se envían tal como las da. El equipo de investigación ve cuántas personas dieron cada respuesta, aunque sean pocas.",
    "arm_randomized": "El azar ha decidido: su dispositivo modifica al azar sus respuestas a estas preguntas antes de enviarlas.",
    "arm_mixed": "El azar ha decidido: algunas de sus respuestas se envían tal como las da y otras se modifican al azar; cada pregunta dice cuál es el caso. De lo que se envía tal cual, el equipo de investigación ve cuántas personas dieron cada respuesta, aunque sean pocas."
  },
  "fr": {
    "arm_label": "Groupe tiré au sort",
    "explain_arms": "Selon le hasard, certaines questions sont envoyées telles que vous y répondez et d’autres sont modifiées au hasard ; chaque question dit ce qu’il en est.",
    "arm_direct": "Le hasard a décidé : vos réponses à ces questions sont envoyées telles que vous les donnez. L’équipe de recherche voit combien de personnes ont donné chaque réponse, même si elles sont peu nombreuses.",
    "arm_randomized": "Le hasard a décidé : votre appareil modifie au hasard vos réponses à ces questions avant de les envoyer.",
    "arm_mixed": "Le hasard a décidé : certaines de vos réponses sont envoyées telles que vous les donnez et d’autres sont modifiées au hasard ; chaque question dit ce qu’il en est. Pour ce qui est envoyé tel quel, l’équipe de recherche voit combien de personnes ont donné chaque réponse, même si elles sont peu nombreuses."
  },
  "hi": {
    "arm_label": "संयोग से चुना गया समूह",
    "explain_arms": "संयोग के अनुसार कुछ प्रश्नों के उत्तर वैसे ही भेजे जाते हैं जैसे आप देते हैं और कुछ यादृच्छिक रूप से बदले जाते हैं; हर प्रश्न बताता है कि कौन सा।",
    "arm_direct": "संयोग ने तय किया है: इन प्रश्नों के आपके उत्तर वैसे ही भेजे जाते हैं जैसे आप देते हैं। शोधकर्ता देखते हैं कि हर उत्तर कितने लोगों ने दिया, चाहे वे कितने ही कम हों।",
    "arm_randomized": "संयोग ने तय किया है: आपका उपकरण इन प्रश्नों के आपके उत्तर भेजने से पहले यादृच्छिक रूप से बदलता है।",
    "arm_mixed": "संयोग ने तय किया है: आपके कुछ उत्तर वैसे ही भेजे जाते हैं जैसे आप देते हैं और कुछ यादृच्छिक रूप से बदले जाते हैं; हर प्रश्न बताता है कि कौन सा। जो वैसे ही भेजा जाता है, उसमें शोधकर्ता देखते हैं कि हर उत्तर कितने लोगों ने दिया, चाहे वे कितने ही कम हों।"
  },
  "it": {
    "arm_label": "Gruppo sorteggiato",
    "explain_arms": "Secondo il caso, alcune domande sono inviate così come risponde e altre sono randomizzate; ogni domanda dice quale.",
    "arm_direct": "Il caso ha deciso: le sue risposte a queste domande sono inviate così come le dà. Chi fa la ricerca vede quante persone hanno dato ogni risposta, anche se sono poche.",
    "arm_randomized": "Il caso ha deciso: il suo dispositivo randomizza le sue risposte a queste domande prima dell’invio.",
    "arm_mixed": "Il caso ha deciso: alcune risposte sono inviate così come le dà e altre sono randomizzate; ogni domanda dice quale. Di ciò che è inviato così com’è, chi fa la ricerca vede quante persone hanno dato ogni risposta, anche se sono poche."
  },
  "pt": {
    "arm_label": "Grupo escolhido ao acaso",
    "explain_arms": "Conforme o acaso, algumas perguntas são enviadas tal como as responde e outras são alteradas ao acaso; cada pergunta diz qual é o caso.",
    "arm_direct": "O acaso decidiu: as suas respostas a estas perguntas são enviadas tal como as dá. A equipe de pesquisa vê quantas pessoas deram cada resposta, mesmo que sejam poucas.",
    "arm_randomized": "O acaso decidiu: o seu dispositivo altera ao acaso as suas respostas a estas perguntas antes de as enviar.",
    "arm_mixed": "O acaso decidiu: algumas das suas respostas são enviadas tal como as dá e outras são alteradas ao acaso; cada pergunta diz qual é o caso. Do que é enviado sem mudança, a equipe de pesquisa vê quantas pessoas deram cada resposta, mesmo que sejam poucas."
  },
  "zh-Hans": {
    "arm_label": "随机抽取的组",
    "explain_arms": "由随机决定，有些问题按您的回答原样发送，有些则经过随机化；每个问题都会注明。",
    "arm_direct": "随机结果：您对这些问题的回答会原样发送。研究人员会看到每个答案有多少人选择，无论人数多少。",
    "arm_randomized": "随机结果：您的设备会先将您对这些问题的回答随机化，然后再发送。",
    "arm_mixed": "随机结果：您的部分回答会原样发送，部分会经过随机化；每个问题都会注明。对于原样发送的回答，研究人员会看到每个答案有多少人选择，无论人数多少。"
  }
};
